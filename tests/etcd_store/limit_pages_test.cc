// Where rate limits have their pages, at a model server whose answers get lost.

#include <atomic>
#include <future>

#include "engines/etcd/store/etcd_limits.h"
#include "tests/etcd_store/store_bed.h"

namespace holdfast::etcd_store {
namespace {

using namespace std::chrono_literals;

class LimitPagesTest : public StoreBed {
 protected:
  LimitPagesTest() { begin_anew(); }
  ~LimitPagesTest() override { let_go(); }

  /// As another process would, whose clock shows this much more.
  void begin_anew(Duration ahead = 0s) {
    let_go();
    const auto clock = [this, ahead] { return Duration{wall_ns_.load()} + ahead; };
    limits_ = std::make_shared<core::LeasedLimits>(
        *env_, std::make_shared<etcd::EtcdLimits>(*env_, port_, kPrefix, clock));
  }

  Result<RateDecision> take(const std::string& key, const RateLimit& limit) {
    std::promise<Result<RateDecision>> answer;
    env_->spawn(tell(limits_, key, core::to_take(limit, {}).value(), answer));
    return answer.get_future().get();
  }
  void pass(Duration time) { wall_ns_ += time.count(); }

 private:
  static Task<void> tell(std::shared_ptr<core::LeasedLimits> limits,
                         std::string key,
                         core::Take take,
                         std::promise<Result<RateDecision>>& answer) {
    auto decision = co_await limits->reserve(std::move(key), take, BootClock::now() + 5s);
    limits.reset();
    answer.set_value(std::move(decision));
  }

  /// On the Env's thread, where it lives.
  void let_go() {
    std::promise<void> gone;
    env_->post([&] {
      limits_.reset();
      gone.set_value();
    });
    gone.get_future().get();
  }

  std::atomic<std::int64_t> wall_ns_{Duration{1'000'000h}.count()};
  std::shared_ptr<core::LeasedLimits> limits_;
};

TEST_F(LimitPagesTest, ProcessesShareAPageAndTimeBringsItBack) {
  const RateLimit limit{.rate = Rate::per_hour(1), .burst = 2};
  EXPECT_TRUE(take("key", limit)->allowed);
  begin_anew();
  EXPECT_TRUE(take("key", limit)->allowed);
  begin_anew();
  const auto refused = take("key", limit);
  EXPECT_FALSE(refused->allowed);
  pass(refused->retry_after + 1s);
  begin_anew();
  EXPECT_TRUE(take("key", limit)->allowed);
  EXPECT_FALSE(take("key", limit)->allowed);
}

TEST_F(LimitPagesTest, AnAllowanceFromAPageThatIsKnownIsOneTransaction) {
  const RateLimit limit{.rate = Rate::per_hour(1), .burst = 3};
  EXPECT_TRUE(take("key", limit)->allowed);
  const int before = port_->sent();
  EXPECT_TRUE(take("key", limit)->allowed);
  EXPECT_TRUE(take("key", limit)->allowed);
  EXPECT_EQ(port_->sent(), before + 2);
  EXPECT_FALSE(take("key", limit)->allowed);
  EXPECT_EQ(port_->sent(), before + 2);
}

TEST_F(LimitPagesTest, AClockThatIsBehindFollowsThePage) {
  const RateLimit limit{.rate = Rate::per_hour(1), .burst = 2};
  begin_anew(24h);
  EXPECT_TRUE(take("key", limit)->allowed);
  begin_anew();
  EXPECT_TRUE(take("key", limit)->allowed);
  const auto refused = take("key", limit);
  EXPECT_FALSE(refused->allowed);
  EXPECT_LE(refused->retry_after, 1h);
}

TEST_F(LimitPagesTest, AfterALostAnswerThePermitsAreSpentAndThePageIsReadAnew) {
  const RateLimit limit{.rate = Rate::per_hour(1), .burst = 3};
  EXPECT_TRUE(take("key", limit)->allowed);
  port_->expect({{Fate::answer_lost, {}}});
  EXPECT_EQ(take("key", limit).error().code, Errc::unknown_outcome);
  EXPECT_TRUE(take("key", limit)->allowed);
  EXPECT_FALSE(take("key", limit)->allowed);
}

TEST_F(LimitPagesTest, WhatIsNotAPageIsLeftAlone) {
  etcd::Txn txn;
  txn.then.push_back(etcd::Put{.key = etcd::limit_key(kPrefix, "key"), .value = "something else"});
  {
    const std::lock_guard lock{server_.mutex};
    ASSERT_TRUE(server_.model.commit(txn));
  }
  EXPECT_EQ(take("key", {.rate = Rate::per_hour(1)}).error().code, Errc::corrupt);
  EXPECT_EQ(take("key", {.rate = Rate::per_hour(1)}).error().code, Errc::corrupt);
}

}  // namespace
}  // namespace holdfast::etcd_store
