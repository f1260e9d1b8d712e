#include "engines/postgres/postgres_engine.h"

#include <gtest/gtest.h>

#include <map>

#include "core/validity.h"
#include "engines/postgres/postgres_testing.h"

namespace holdfast::postgres {
namespace {

using namespace std::chrono_literals;

constexpr Millis kTtl{10'000};
const Value kNone{};

class News final : public core::LeaseNews {
 public:
  void lost(const Owner& owner, LossReason reason) override { losses.emplace_back(owner, reason); }
  void in_doubt() override { ++doubts; }

  std::vector<std::pair<Owner, LossReason>> losses;
  int doubts{0};
};

/// One who waits for a lock that another has, at a server that answers as told.
class PostgresEngineTest : public testing::Test {
 protected:
  using Granted = Result<core::Grant, AcquireError>;

  PostgresEngineTest() {
    port_->server = [this](const FakePort::Sent& sent) { return answers_[sent.statement]; };
    answers_["holdfast_attend"] = Rows{{"t"}};
    answers_["holdfast_release"] = Rows{{"f"}};
    say("holdfast_acquire", {"queued", kNone, "60000", "f"});
    say("holdfast_refresh", {"queued", kNone, "60000", "f"});
    engine_->tell(news_);
  }

  void say(const std::string& statement, Row row) { answers_[statement] = Rows{std::move(row)}; }

  static Task<void> put(Task<Granted> task, std::optional<Granted>& to) {
    Granted granted = co_await std::move(task);
    to = std::move(granted);
  }
  void begin_acquire(Duration wait = 1h) {
    const core::LockRequest request{.name = LockName{"ledger"}, .owner = owner_, .ttl = kTtl};
    env_.spawn(put(engine_->acquire(request, env_.now() + wait, stop_.get_token()), granted_));
    scheduler_.advance(10ms);
  }
  std::string owner_text() const { return owner_.to_string(); }

  sim::Scheduler scheduler_;
  sim::SimEnv env_{scheduler_, 1};
  std::map<std::string, std::optional<Rows>> answers_;
  std::shared_ptr<FakePort> port_{std::make_shared<FakePort>(env_)};
  std::shared_ptr<News> news_{std::make_shared<News>()};
  std::shared_ptr<PostgresEngine> engine_ =
      std::make_shared<PostgresEngine>(env_, port_, Settings{.timeout = 1s});
  std::stop_source stop_;
  const Owner owner_ = env_.fresh_owner();
  std::optional<Granted> granted_;
};

TEST_F(PostgresEngineTest, APushedGrantCountsFromTheRequestThatFoundAnother) {
  say("holdfast_acquire", {"queued", "40 " + owner_text() + " note", "60000", "f"});
  const TimePoint asked_at = env_.now();
  begin_acquire();
  scheduler_.advance(kTtl / 4);
  port_->notify("granted " + owner_text() + " 41");
  scheduler_.advance(10ms);
  ASSERT_TRUE(granted_ && *granted_);
  EXPECT_EQ((*granted_)->token, Token{41});
  EXPECT_EQ((*granted_)->valid_until, core::deadline_of(asked_at, kTtl));
  EXPECT_EQ(port_->count("holdfast_confirm"), 0u);
}

TEST_F(PostgresEngineTest, APushedGrantIsConfirmedWhenItsRequestIsLongAgo) {
  say("holdfast_acquire", {"queued", "40 " + owner_text() + " note", "60000", "f"});
  begin_acquire();
  say("holdfast_confirm", {"41", "9000"});
  scheduler_.advance(kTtl / 2);
  port_->notify("granted " + owner_text() + " 41");
  scheduler_.advance(10ms);
  ASSERT_TRUE(granted_ && *granted_);
  EXPECT_EQ(port_->count("holdfast_confirm"), 1u);
}

// It was granted, did not hear of it until that was over, and has asked again since.
TEST_F(PostgresEngineTest, ANoticeOlderThanTheHolderThatWasFoundIsConfirmed) {
  say("holdfast_acquire", {"queued", "42 " + owner_text() + " note", "60000", "f"});
  begin_acquire();
  say("holdfast_confirm", {kNone, kNone});
  port_->notify("granted " + owner_text() + " 41");
  scheduler_.advance(10ms);
  EXPECT_FALSE(granted_);
  EXPECT_EQ(port_->count("holdfast_confirm"), 1u);
}

TEST_F(PostgresEngineTest, APushedGrantCountsFromItsConfirmation) {
  begin_acquire();
  say("holdfast_confirm", {"41", "8000"});
  scheduler_.advance(3s);
  const TimePoint told_at = env_.now();
  port_->notify("granted " + owner_text() + " 41");
  scheduler_.advance(10ms);
  ASSERT_TRUE(granted_ && *granted_);
  EXPECT_EQ((*granted_)->token, Token{41});
  EXPECT_EQ((*granted_)->sent_at, told_at);
  EXPECT_EQ((*granted_)->counts_from, told_at - 2s);
  EXPECT_EQ((*granted_)->valid_until, told_at + 8s - core::drift_allowance(kTtl));
}

TEST_F(PostgresEngineTest, WithLessThanHalfATtlLeftItAsksAgain) {
  begin_acquire();
  say("holdfast_confirm", {"41", "4000"});
  say("holdfast_acquire", {"granted", "41", kNone, kNone});
  scheduler_.advance(3s);
  const TimePoint told_at = env_.now();
  port_->notify("granted " + owner_text() + " 41");
  scheduler_.advance(10ms);
  ASSERT_TRUE(granted_ && *granted_);
  EXPECT_EQ(port_->count("holdfast_acquire"), 2u);
  EXPECT_EQ((*granted_)->valid_until, core::deadline_of(told_at, kTtl));
}

TEST_F(PostgresEngineTest, ANoticeThatNothingConfirmsGrantsNothing) {
  begin_acquire();
  say("holdfast_confirm", {kNone, kNone});
  port_->notify("granted " + owner_text() + " 41");
  scheduler_.advance(10ms);
  EXPECT_FALSE(granted_);
  EXPECT_EQ(port_->count("holdfast_acquire"), 2u);
}

TEST_F(PostgresEngineTest, WaitingCostsNothingWhileItHears) {
  begin_acquire();
  const std::size_t before = port_->sent.size();
  // The lock may come free in a minute. Who is first looks then, unless it died with the holder.
  scheduler_.advance(69s);
  EXPECT_EQ(port_->sent.size(), before);
  scheduler_.advance(1100ms);
  EXPECT_EQ(port_->sent.size(), before + 1);
}

TEST_F(PostgresEngineTest, PlacesAreGivenToTheSessionOnceThereIsOne) {
  begin_acquire();
  ASSERT_EQ(port_->count("holdfast_refresh"), 1u);
  EXPECT_EQ(port_->sent.front().args[6], kNone);
  EXPECT_NE(port_->sent.back().args[6], kNone);
}

// The request that gave the session may have come before one that was sent earlier and gave none.
TEST_F(PostgresEngineTest, APlaceThatWasGivenWithoutTheSessionIsGivenAnew) {
  port_->direct_now = PostgresPort::Direct::unknown;
  const auto plain = port_->server;
  port_->server = [&](const FakePort::Sent& sent) {
    port_->direct_now = PostgresPort::Direct::yes;
    return plain(sent);
  };
  begin_acquire();
  EXPECT_EQ(port_->sent.front().statement, "holdfast_acquire");
  EXPECT_EQ(port_->sent.front().args[6], kNone);
  EXPECT_EQ(port_->sent.back().statement, "holdfast_refresh");
  EXPECT_NE(port_->sent.back().args[6], kNone);
  const std::size_t before = port_->sent.size();
  scheduler_.advance(5s);
  EXPECT_EQ(port_->sent.size(), before);
}

TEST_F(PostgresEngineTest, WhoHasBecomeFirstLooksWhenTheLeaseMayHaveEnded) {
  begin_acquire();
  const std::size_t before = port_->sent.size();
  port_->notify("first " + owner_text() + " 3000");
  scheduler_.advance(2900ms);
  EXPECT_EQ(port_->sent.size(), before);
  scheduler_.advance(200ms);
  EXPECT_EQ(port_->sent.size(), before + 1);
}

TEST_F(PostgresEngineTest, WithoutASessionTheFirstLooksOften) {
  port_->direct_now = PostgresPort::Direct::no;
  say("holdfast_acquire", {"queued", kNone, "60000", "t"});
  say("holdfast_refresh", {"queued", kNone, "60000", "t"});
  begin_acquire();
  scheduler_.advance(2s);
  EXPECT_EQ(port_->opened, 0u);
  EXPECT_EQ(port_->count("holdfast_refresh"), 8u);
}

TEST_F(PostgresEngineTest, WithoutASessionPlacesAreRefreshed) {
  port_->direct_now = PostgresPort::Direct::no;
  begin_acquire();
  scheduler_.advance(10s);
  EXPECT_EQ(port_->count("holdfast_refresh"), 3u);
}

TEST_F(PostgresEngineTest, AnotherSessionTakesOverWhenOneEnds) {
  begin_acquire();
  const Value first = port_->sent.back().args[6];
  port_->end_session();
  scheduler_.advance(1ms);
  EXPECT_EQ(news_->doubts, 2);
  EXPECT_EQ(port_->sent.back().args[6], kNone);
  scheduler_.advance(1s);
  EXPECT_EQ(port_->opened, 2u);
  EXPECT_EQ(news_->doubts, 3);
  EXPECT_NE(port_->sent.back().args[6], kNone);
  EXPECT_NE(port_->sent.back().args[6], first);
}

TEST_F(PostgresEngineTest, AGrantAfterLeavingGoesBack) {
  begin_acquire(2s);
  scheduler_.advance(3s);
  ASSERT_TRUE(granted_);
  EXPECT_EQ(granted_->error().code, Errc::timeout);
  const std::size_t released = port_->count("holdfast_release");
  port_->notify("granted " + owner_text() + " 41");
  scheduler_.advance(10ms);
  EXPECT_EQ(port_->count("holdfast_release"), released + 1);
}

// A refresh that comes to the server after the release takes the lock for nobody.
TEST_F(PostgresEngineTest, AGrantOnceMoreToOneThatHadItGoesBack) {
  begin_acquire();
  say("holdfast_confirm", {"41", "8000"});
  port_->notify("granted " + owner_text() + " 41");
  scheduler_.advance(10ms);
  ASSERT_TRUE(granted_ && *granted_);
  // The same lease, told late.
  port_->notify("granted " + owner_text() + " 41");
  scheduler_.advance(10ms);
  EXPECT_EQ(port_->count("holdfast_release"), 0u);
  say("holdfast_confirm", {"57", "9000"});
  port_->notify("granted " + owner_text() + " 41");
  scheduler_.advance(10ms);
  EXPECT_EQ(port_->count("holdfast_release"), 1u);
}

TEST_F(PostgresEngineTest, AHolderHearsThatItsLeaseWasBroken) {
  say("holdfast_acquire", {"granted", "41", kNone, kNone});
  begin_acquire();
  ASSERT_TRUE(granted_ && *granted_);
  port_->notify("broken " + owner_text());
  scheduler_.advance(1ms);
  ASSERT_EQ(news_->losses.size(), 1u);
  EXPECT_EQ(news_->losses[0], (std::pair{owner_, LossReason::broken}));
}

TEST_F(PostgresEngineTest, NothingIsRelayedAfterItsEnd) {
  begin_acquire();
  stop_.request_stop();
  scheduler_.advance(1s);
  engine_.reset();
  port_->notify("granted " + owner_text() + " 41");
  port_->end_session();
  scheduler_.advance(1min);
  EXPECT_EQ(port_->opened, 1u);
}

}  // namespace
}  // namespace holdfast::postgres
