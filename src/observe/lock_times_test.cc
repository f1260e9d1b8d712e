#include "holdfast/lock_times.h"

#include <gtest/gtest.h>

#include <thread>

#include "client/fake_backend.h"
#include "engines/local/test_directory.h"
#include "observe/kept_record.h"
#include "observe/refusal_record.h"
#include "observe/times_record.h"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using observe::RefusalRecord;
using observe::TimesRecord;

TimesRecord record(Duration held, std::int64_t now_ms) {
  TimesRecord record;
  record.add({.kind = EventKind::acquired, .contended = true, .waited = held}, now_ms);
  record.add({.kind = EventKind::released, .held = held}, now_ms);
  return record;
}

TEST(TimesRecordTest, OrderOfMergingDoesNotMatter) {
  const TimesRecord nothing;
  const TimesRecord early = record(1s, 100);
  const TimesRecord late = record(2s, 200);
  TimesRecord one = early;
  one.merge(late);
  one.merge(nothing);
  TimesRecord other = nothing;
  other.merge(late);
  other.merge(early);
  EXPECT_EQ(one, other);
  EXPECT_EQ(one.since_ms, 100);
  EXPECT_EQ(one.until_ms, 200);
  EXPECT_EQ(one.contended, 2u);
  EXPECT_EQ(one.summary().hold.samples, 2u);
}

TEST(TimesRecordTest, BytesGiveBackTheSameAndNothingElseIsTaken) {
  const TimesRecord sum = record(1s, 1'760'000'000'000);
  const std::string bytes = sum.encode();
  EXPECT_EQ(TimesRecord::decode(bytes), sum);
  EXPECT_FALSE(TimesRecord::decode(bytes + "x"));
  EXPECT_FALSE(TimesRecord::decode(bytes.substr(0, bytes.size() - 1)));
  EXPECT_FALSE(TimesRecord::decode("42"));
  EXPECT_FALSE(TimesRecord::decode(""));
}

struct LockTimesTest : ::testing::Test {
  Client connect() { return *Client::connect("local:" + directory.path()); }

  /// A write of a holder that was overtaken.
  static void write_late(Client& by, const std::string& resource) {
    auto store = by.store();
    auto lease = by.acquire(resource);
    auto late = store->open(resource, *lease);
    lease->release();
    ASSERT_TRUE(store->open(resource, *by.acquire(resource)));
    EXPECT_EQ(late->write("late").error().code, Errc::stale_token);
  }

  Result<std::optional<RefusalRecord>> refusals() {
    auto store = client.store();
    return observe::read_key<RefusalRecord>(*store, observe::kRefusalsKey);
  }

  local::TestDirectory directory;
  Client client = connect();
};

TEST_F(LockTimesTest, NothingIsKnownOfALockThatNobodyMeasured) {
  const auto times = lock_times(client, "x");
  ASSERT_TRUE(times);
  EXPECT_FALSE(*times);
}

TEST_F(LockTimesTest, ProgramsAddUp) {
  constexpr int kPrograms = 4;
  constexpr int kRounds = 5;
  {
    std::vector<std::jthread> programs;
    for (int i = 0; i < kPrograms; ++i) {
      programs.emplace_back([this] {
        const auto recorder = std::make_shared<TimesRecorder>();
        Client own = observed(connect(), recorder);
        for (int round = 0; round < kRounds; ++round) {
          { const auto lease = own.acquire("x"); }
          EXPECT_TRUE(recorder->flush(own));
        }
      });
    }
  }
  const auto times = lock_times(client, "x");
  ASSERT_TRUE(times && *times);
  EXPECT_EQ((*times)->wait.samples, std::uint64_t{kPrograms * kRounds});
  EXPECT_LE((*times)->hold.samples, std::uint64_t{kPrograms * kRounds});
  EXPECT_GE((*times)->hold.samples, std::uint64_t{kPrograms});
  EXPECT_LE((*times)->since_ms, (*times)->until_ms);
  EXPECT_GT((*times)->since_ms, 0);
}

TEST_F(LockTimesTest, KeyOfSomebodyElseIsLeftAlone) {
  auto store = client.store();
  ASSERT_TRUE(store->put("holdfast/times/x", "mine"));
  EXPECT_EQ(lock_times(client, "x").error().code, Errc::corrupt);
  const auto recorder = std::make_shared<TimesRecorder>();
  Client own = observed(client, recorder);
  { const auto lease = own.acquire("x"); }
  EXPECT_EQ(recorder->flush(own).error().code, Errc::corrupt);
  EXPECT_EQ((*store->get("holdfast/times/x"))->value, "mine");
  ASSERT_TRUE(store->erase("holdfast/times/x"));
  EXPECT_TRUE(recorder->flush(own));
  EXPECT_EQ((*lock_times(client, "x"))->wait.samples, 1u);
}

TEST_F(LockTimesTest, RefusedStaleWritesOfProgramsAddUp) {
  EXPECT_FALSE(*refusals());
  for (int program = 0; program < 2; ++program) {
    const auto recorder = std::make_shared<TimesRecorder>();
    Client own = observed(connect(), recorder);
    write_late(own, "ledger");
    write_late(own, program == 0 ? "ledger" : "config");
    EXPECT_TRUE(recorder->flush(own));
    EXPECT_TRUE(recorder->flush(own)) << "nothing is added twice";
  }
  const auto kept = refusals();
  ASSERT_TRUE(kept && *kept);
  EXPECT_EQ((*kept)->total, 4u);
  EXPECT_EQ((*kept)->resources.at("ledger").count, 3u);
  EXPECT_EQ((*kept)->resources.at("config").count, 1u);
  EXPECT_GT((*kept)->since_ms, 0);
}

TEST_F(LockTimesTest, RefusalsThatCannotBeAddedAreGatheredStill) {
  auto store = client.store();
  ASSERT_TRUE(store->put(observe::kRefusalsKey, "mine"));
  const auto recorder = std::make_shared<TimesRecorder>();
  Client own = observed(client, recorder);
  write_late(own, "ledger");
  EXPECT_EQ(recorder->flush(own).error().code, Errc::corrupt);
  EXPECT_EQ((*store->get(observe::kRefusalsKey))->value, "mine");
  EXPECT_TRUE(*lock_times(client, "ledger")) << "the times were added all the same";
  ASSERT_TRUE(store->erase(observe::kRefusalsKey));
  EXPECT_TRUE(recorder->flush(own));
  EXPECT_EQ((*refusals())->total, 1u);
}

TEST_F(LockTimesTest, NameThatIsTooLongForItsKeyIsRefused) {
  EXPECT_EQ(lock_times(client, std::string(498, 'n')).error().code, Errc::invalid_argument);
  EXPECT_TRUE(lock_times(client, std::string(497, 'n')));
}

TEST(LockTimesWithoutStoreTest, EngineWithoutAStoreSaysSo) {
  Client client{std::make_shared<testing::FakeBackend>()};
  EXPECT_EQ(lock_times(client, "x").error().code, Errc::unsupported);
  TimesRecorder recorder;
  EXPECT_EQ(recorder.flush(client).error().code, Errc::unsupported);
}

}  // namespace
}  // namespace holdfast
