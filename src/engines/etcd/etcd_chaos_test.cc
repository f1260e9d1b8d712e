// Processes that come and go under lost answers, interruptions and leader changes: nobody holds a
// lock that another has, tokens rise, and nothing is left behind.

#include <gtest/gtest.h>

#include <algorithm>

#include "engines/etcd/etcd_testing.h"

namespace holdfast::etcd::testing {
namespace {

class EtcdChaosTest : public ::testing::TestWithParam<int> {
 protected:
  /// One of many requests of a process, until it is over.
  struct Turn {
    Locker* who;
    core::Claim claim;
    std::shared_ptr<Locker::Outcome> outcome;
    TimePoint leave_at;
    bool noted{false};
  };

  EtcdChaosTest() {
    for (int i = 0; i < 4; ++i) lockers_.push_back(std::make_unique<Locker>(bed_, Settings{}));
  }

  core::Claim any_claim() {
    const std::uint64_t kind = chance_.below(4);
    if (kind == 0) return {.mode = Mode::shared};
    if (kind == 1) return {.mode = Mode::permit, .permits = 2};
    return {};
  }

  void begin_one() {
    Locker& who = *lockers_[chance_.below(lockers_.size())];
    const core::Claim claim = any_claim();
    const Millis wait{static_cast<std::int64_t>(chance_.below(3) * chance_.below(8'000))};
    auto outcome = who.begin({.ttl = 4s, .wait = wait, .claim = claim});
    const TimePoint leave_at = bed_.scheduler.now() + chance_.between(0s, 6s);
    turns_.push_back({&who, claim, std::move(outcome), leave_at});
  }

  static bool holds(const Turn& turn) {
    return turn.outcome->lease && turn.who->state(turn.outcome->lease) != LeaseState::lost &&
           turn.who->state(turn.outcome->lease) != LeaseState::released;
  }

  void check() {
    std::vector<core::Claim> held;
    for (Turn& turn : turns_) {
      if (!holds(turn)) continue;
      if (turn.claim.mode == Mode::exclusive && !std::exchange(turn.noted, true)) {
        const std::uint64_t token = turn.outcome->lease->held().token.value();
        EXPECT_GT(token, last_token_);
        last_token_ = token;
      }
      held.push_back(turn.claim);
    }
    for (std::size_t i = 0; i < held.size(); ++i) {
      std::vector<core::Claim> others = held;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_EQ(core::admit(others, held[i]), core::Admission::granted);
    }
  }

  void end_some() {
    for (Turn& turn : turns_) {
      if (bed_.scheduler.now() < turn.leave_at) continue;
      if (!turn.outcome->done()) turn.outcome->stop.request_stop();
      if (holds(turn)) {
        turn.who->process.env.spawn(give_back(turn.who, turn.outcome->lease));
      }
    }
    std::erase_if(turns_, [](const Turn& turn) { return turn.outcome->done() && !holds(turn); });
  }

  static Task<void> give_back(Locker* who, Locker::Lease lease) {
    static_cast<void>(co_await who->session->release(lease, who->process.env.now() + 2s));
  }

  void trouble() {
    Locker& who = *lockers_[chance_.below(lockers_.size())];
    switch (chance_.below(8)) {
      case 0:
        return bed_.lose_next_replies(who.process, 2);
      case 1:
        if (cut_off_ == nullptr) bed_.cut_off(who.process);
        cut_off_ = cut_off_ == nullptr ? &who : cut_off_;
        return;
      case 2:
        if (cut_off_ != nullptr) bed_.reconnect(cut_off_->process);
        cut_off_ = nullptr;
        return;
      case 3:
        return bed_.cluster.change_leader();
      case 4:
        return bed_.cluster.compact(bed_.cluster.revision());
      case 5:
        who.port->delay = chance_.between(0s, 5s);
        who.port->delay_next = 1;
        return;
      case 6:
        return bed_.cluster.stop(chance_.below(3));
      default:
        for (std::size_t i = 0; i < 3; ++i) bed_.cluster.start(i);
    }
  }

  sim::Chance chance_{static_cast<std::uint64_t>(GetParam())};
  sim::EtcdBed bed_;
  std::vector<std::unique_ptr<Locker>> lockers_;
  std::vector<Turn> turns_;
  Locker* cut_off_{nullptr};
  std::uint64_t last_token_{0};
};

TEST_P(EtcdChaosTest, NobodyHoldsWhatAnotherHasAndNothingIsLeftBehind) {
  for (int step = 0; step < 1500; ++step) {
    if (chance_.below(4) == 0) begin_one();
    if (chance_.below(20) == 0) trouble();
    end_some();
    for (int i = 0; i < 10; ++i) {
      bed_.scheduler.advance(10ms);
      check();
    }
  }
  for (std::size_t i = 0; i < 3; ++i) bed_.cluster.start(i);
  bed_.network.mend_all();
  for (int i = 0; i < 300; ++i) {
    end_some();
    bed_.scheduler.advance(100ms);
  }
  EXPECT_TRUE(turns_.empty());
  const auto late = lockers_[0]->acquire({.wait = 1s});
  ASSERT_TRUE(late->lease) << late->error->message;
  EXPECT_GT(late->lease->held().token.value(), last_token_);
}

INSTANTIATE_TEST_SUITE_P(Seeds, EtcdChaosTest, ::testing::Range(1, 9));

}  // namespace
}  // namespace holdfast::etcd::testing
