#include "engines/redis/server_signs.h"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using core::Fate;

Reply info(const std::string& server, const std::string& stats, const std::string& commands) {
  return Reply::of_array({Reply::of_text(server),
                          Reply::of_text("# Replication\r\nmaster_replid:abc\r\n"
                                         "master_replid2:000\r\n"),
                          Reply::of_text(stats),
                          Reply::of_text(commands),
                          Reply::of_text("1770000000123456")});
}

TEST(ServerSignsTest, AreReadFromInfo) {
  const TimePoint sent{1s};
  const Reply reply =
      info("# Server\r\nrun_id:123\r\nuptime_in_seconds:77\r\n",
           "total_evicted_keys:9\r\nevicted_keys:4\r\n",
           "cmdstat_flushall:calls=2,usec=10\r\ncmdstat_flushdb:calls=3,usec=1\r\n");
  const auto signs = read_signs(reply, sent, sent + 2ms);
  ASSERT_TRUE(signs);
  EXPECT_EQ(signs->run_id, "123");
  EXPECT_EQ(signs->uptime, 77s);
  EXPECT_EQ(signs->replication_id, "abc");
  EXPECT_EQ(signs->evicted_keys, 4U);
  EXPECT_EQ(signs->flushes, 5U);
  EXPECT_EQ(signs->wall_clock.count(), 1'770'000'000'123'456);
  EXPECT_EQ(signs->sent_at, sent);
}

TEST(ServerSignsTest, AServerThatDoesNotSayWhoItIsHasNone) {
  EXPECT_FALSE(read_signs(info("", "", ""), {}, {}));
  EXPECT_FALSE(read_signs(Reply::of_error("NOPERM"), {}, {}));
}

class WhatHappenedTest : public testing::Test {
 protected:
  /// Ten seconds later, and nothing has happened.
  WhatHappenedTest() {
    after_.uptime += 10s;
    after_.wall_clock += 10s;
    after_.sent_at += 10s;
    after_.heard_at += 10s;
  }

  std::optional<Fate> fate() const {
    const auto change = what_happened(before_, after_);
    return change ? std::optional{change->fate} : std::nullopt;
  }

  ServerSigns before_{.run_id = "run",
                      .uptime = 100s,
                      .replication_id = "data",
                      .evicted_keys = 3,
                      .flushes = 1,
                      .wall_clock = 1'770'000'000s,
                      .sent_at = TimePoint{5s},
                      .heard_at = TimePoint{5s + 1ms}};
  ServerSigns after_ = before_;
};

TEST_F(WhatHappenedTest, NothingThatShows) { EXPECT_EQ(fate(), std::nullopt); }

TEST_F(WhatHappenedTest, AnotherProcessThatBeganSinceHasRestarted) {
  after_.run_id = "another";
  after_.replication_id = "new";
  after_.uptime = 2s;
  EXPECT_EQ(fate(), Fate::restarted);
}

TEST_F(WhatHappenedTest, AnotherProcessThatWasThereBeforeHasTakenOver) {
  after_.run_id = "another";
  after_.replication_id = "new";
  after_.uptime = 12s;
  EXPECT_EQ(fate(), Fate::failed_over);
}

TEST_F(WhatHappenedTest, OtherDataInTheSameProcessCameFromAnother) {
  after_.replication_id = "new";
  EXPECT_EQ(fate(), Fate::failed_over);
}

TEST_F(WhatHappenedTest, CountersTellOfFlushesAndEvictions) {
  after_.evicted_keys = 4;
  EXPECT_EQ(fate(), Fate::evicted);
  after_.flushes = 2;
  EXPECT_EQ(fate(), Fate::flushed);
}

TEST_F(WhatHappenedTest, CountersThatWereResetTellNothing) {
  after_.evicted_keys = 0;
  after_.flushes = 0;
  EXPECT_EQ(fate(), std::nullopt);
}

TEST_F(WhatHappenedTest, AClockThatRanAheadWasMoved) {
  after_.wall_clock += 3s;
  const auto change = what_happened(before_, after_);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->fate, Fate::clock_stepped);
  EXPECT_EQ(change->ahead, 3s - 1ms) << "less what the answers may have taken";
}

TEST_F(WhatHappenedTest, ClocksAreNeverQuiteAlike) {
  after_.wall_clock += 40ms;
  EXPECT_EQ(fate(), std::nullopt);
}

TEST_F(WhatHappenedTest, AClockThatFellBehindEndsNoLease) {
  after_.wall_clock -= 30s;
  EXPECT_EQ(fate(), std::nullopt);
}

TEST_F(WhatHappenedTest, ALateAnswerIsNoClockThatWasMoved) {
  before_.wall_clock -= 4s;
  before_.sent_at -= 5s;
  EXPECT_EQ(fate(), std::nullopt);
}

}  // namespace
}  // namespace holdfast::redis
