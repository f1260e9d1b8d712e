// Where rate limits have their pages, on a model tree whose answers get lost.

#include <future>

#include "engines/zookeeper/store/zookeeper_limits.h"
#include "tests/contract/patience.h"
#include "tests/zookeeper_store/store_bed.h"

namespace holdfast::zookeeper_store {
namespace {

using namespace std::chrono_literals;

class LimitPagesTest : public StoreBed {
 protected:
  LimitPagesTest() { begin_anew(); }
  ~LimitPagesTest() override { let_go(); }

  /// As another process would.
  void begin_anew() {
    let_go();
    const auto line = zookeeper::StoreLine::create(*env_, port_);
    limits_ = std::make_shared<core::LeasedLimits>(
        *env_, std::make_shared<zookeeper::ZookeeperLimits>(*env_, line, kPrefix));
  }

  Result<RateDecision> take(const std::string& key, const RateLimit& limit) {
    std::promise<Result<RateDecision>> answer;
    env_->spawn(tell(limits_, key, core::to_take(limit, {}).value(), answer));
    return answer.get_future().get();
  }
  void pass(Millis time) {
    const std::lock_guard lock{server_.mutex};
    server_.time += time;
  }
  /// How many there were in the tree.
  zookeeper::Zxid changes() {
    const std::lock_guard lock{server_.mutex};
    return server_.zxid;
  }
  bool is_there(const std::string& key) {
    return serve(zookeeper::Exists{.path = "/hf/%limits/" + key}).verdict ==
           zookeeper::Verdict::done;
  }

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

  std::shared_ptr<core::LeasedLimits> limits_;
};

TEST_F(LimitPagesTest, ProcessesShareAPage) {
  const RateLimit limit{.rate = Rate::per_hour(1), .burst = 2};
  EXPECT_TRUE(take("key", limit)->allowed);
  begin_anew();
  EXPECT_TRUE(take("key", limit)->allowed);
  begin_anew();
  EXPECT_FALSE(take("key", limit)->allowed);
  EXPECT_TRUE(is_there("key"));
}

TEST_F(LimitPagesTest, AnAllowanceFromAPageThatIsKnownIsOneWrite) {
  const RateLimit limit{.rate = Rate::per_hour(1), .burst = 4};
  EXPECT_TRUE(take("key", limit)->allowed);
  // What the first one sent is counted by the time of the second one's answer.
  EXPECT_TRUE(take("key", limit)->allowed);
  const int reads = port_->sent();
  const zookeeper::Zxid writes = changes();
  EXPECT_TRUE(take("key", limit)->allowed);
  EXPECT_TRUE(take("key", limit)->allowed);
  EXPECT_FALSE(take("key", limit)->allowed);
  EXPECT_EQ(port_->sent(), reads);
  EXPECT_EQ(changes(), writes + 2);
}

TEST_F(LimitPagesTest, AfterALostAnswerThePermitsAreSpentAndThePageIsReadAnew) {
  const RateLimit limit{.rate = Rate::per_hour(1), .burst = 3};
  EXPECT_TRUE(take("key", limit)->allowed);
  port_->always(Fate::answer_lost);
  EXPECT_EQ(take("key", limit).error().code, Errc::unknown_outcome);
  port_->always(Fate::answered);
  EXPECT_TRUE(take("key", limit)->allowed);
  EXPECT_FALSE(take("key", limit)->allowed);
}

TEST_F(LimitPagesTest, WhatIsNotAPageIsLeftAlone) {
  EXPECT_TRUE(take("key", {.rate = Rate::per_hour(1)})->allowed);
  serve(zookeeper::Write{.path = "/hf/%limits/key", .data = "something else"});
  begin_anew();
  EXPECT_EQ(take("key", {.rate = Rate::per_hour(1)}).error().code, Errc::corrupt);
  EXPECT_EQ(serve(zookeeper::Read{.path = "/hf/%limits/key"}).data, "something else");
}

TEST_F(LimitPagesTest, PagesThatNobodyUsesAreSweptAndOthersStay) {
  EXPECT_TRUE(take("used up", {.rate = Rate::per_hour(1)})->allowed);
  EXPECT_TRUE(take("unused", {.rate = Rate::per_second(1)})->allowed);
  pass(11min);
  begin_anew();
  EXPECT_TRUE(take("new", {.rate = Rate::per_second(1)})->allowed);
  EXPECT_TRUE(contract::eventually([&] { return !is_there("unused"); }));
  EXPECT_FALSE(take("used up", {.rate = Rate::per_hour(1)})->allowed);
  EXPECT_TRUE(is_there("new"));
}

}  // namespace
}  // namespace holdfast::zookeeper_store
