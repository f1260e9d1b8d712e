#include "core/session_keeper.h"

#include <gtest/gtest.h>

#include <map>

#include "core/validity.h"
#include "sim/world/sim_env.h"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;
using sim::Scheduler;
using sim::SimEnv;

constexpr Millis kTtl = 9s;

/// Answers as told, after `latency`, and remembers what it was asked.
class FakeRenewer final : public Renewer {
 public:
  explicit FakeRenewer(Env& env) : env_{env} {}

  Task<Result<std::vector<Fate>>> renew(std::vector<HeldLease> leases,
                                        Millis,
                                        TimePoint answer_by) override {
    asked.push_back({env_.now(), leases.size()});
    const bool answers = reachable;
    const TimePoint answer_at = env_.now() + latency;
    if (!answers || answer_at > answer_by) {
      co_await env_.sleep_until(answers || hangs ? answer_by : env_.now() + latency);
      co_return Unexpected{Errc::unknown_outcome};
    }
    co_await env_.sleep_until(answer_at);
    std::vector<Fate> fates;
    for (const HeldLease& lease : leases) {
      const auto known = fate.find(lease.name);
      fates.push_back(known == fate.end() ? Fate::renewed : known->second);
    }
    co_return fates;
  }

  struct Asked {
    TimePoint when;
    std::size_t leases;
  };
  std::vector<Asked> asked;
  std::map<LockName, Fate> fate;
  Duration latency{1ms};
  bool reachable{true};
  bool hangs{false};

 private:
  Env& env_;
};

class SessionKeeperTest : public testing::Test {
 protected:
  struct Heard {
    TimePoint when;
    LeaseEvent event;
  };

  std::shared_ptr<KeptLease> keep(const std::string& name) {
    HeldLease lease{LockName{name}, env_.fresh_owner(), Token{1}};
    auto listener = [this, name](const LeaseEvent& event) {
      heard_[name].push_back({env_.now(), event});
    };
    return keeper_->keep(std::move(lease), env_.now(), listener);
  }

  std::vector<LeaseState> states(const std::string& name) {
    std::vector<LeaseState> states;
    for (const Heard& heard : heard_[name]) states.push_back(heard.event.state);
    return states;
  }

  LeaseState state(const KeptLease& lease) const { return lease.state(env_.now()); }

  using States = std::vector<LeaseState>;
  std::map<std::string, std::vector<Heard>> heard_;
  Scheduler scheduler_;
  SimEnv env_{scheduler_, 1};
  std::shared_ptr<FakeRenewer> renewer_{std::make_shared<FakeRenewer>(env_)};
  std::optional<SessionKeeper> keeper_{std::in_place, env_, renewer_, kTtl};
};

TEST_F(SessionKeeperTest, RenewsAtAThirdOfTheTtlForAsLongAsItIsAsked) {
  const TimePoint start = env_.now();
  const auto lease = keep("a");
  scheduler_.advance(kTtl * 100);
  EXPECT_EQ(state(*lease), LeaseState::held);
  EXPECT_TRUE(heard_["a"].empty());
  ASSERT_GE(renewer_->asked.size(), 300U);
  EXPECT_LE(renewer_->asked.size(), 301U);
  EXPECT_EQ(renewer_->asked.front().when, start + kTtl / 3);
}

TEST_F(SessionKeeperTest, RenewsAllLeasesOfTheSessionInOneRequest) {
  for (int i = 0; i < 50; ++i) {
    keep("lock" + std::to_string(i));
    scheduler_.advance(7ms);
  }
  scheduler_.advance(kTtl * 10);
  EXPECT_LE(renewer_->asked.size(), 31U);
  EXPECT_EQ(renewer_->asked.back().leases, 50U);
}

TEST_F(SessionKeeperTest, UnansweredRenewalsLeadThroughJeopardyToLossAtTheDeadline) {
  const TimePoint start = env_.now();
  const auto lease = keep("a");
  renewer_->reachable = false;
  scheduler_.advance(kTtl);
  EXPECT_EQ(states("a"), (States{LeaseState::jeopardy, LeaseState::lost}));
  EXPECT_EQ(heard_["a"][0].when, start + kTtl * 2 / 3);
  EXPECT_EQ(heard_["a"][1].when, deadline_of(start, kTtl));
  EXPECT_EQ(heard_["a"][1].event.reason, LossReason::expired);
  EXPECT_EQ(lease->loss_reason(env_.now()), LossReason::expired);
  EXPECT_GT(renewer_->asked.size(), 4U);
}

TEST_F(SessionKeeperTest, ARenewalThatHangsDelaysNeitherLossNorTheNextAttempt) {
  const TimePoint start = env_.now();
  keep("a");
  renewer_->reachable = false;
  renewer_->hangs = true;
  scheduler_.advance(kTtl * 2 / 3 - 1ms);
  EXPECT_GE(renewer_->asked.size(), 2U);
  scheduler_.advance(kTtl);
  ASSERT_EQ(states("a"), (States{LeaseState::jeopardy, LeaseState::lost}));
  EXPECT_EQ(heard_["a"].back().when, deadline_of(start, kTtl));
  EXPECT_LE(renewer_->asked.size(), 5U);
}

TEST_F(SessionKeeperTest, ALateRenewalEndsJeopardy) {
  const auto lease = keep("a");
  renewer_->reachable = false;
  scheduler_.advance(kTtl * 7 / 9);
  EXPECT_EQ(state(*lease), LeaseState::jeopardy);
  renewer_->reachable = true;
  scheduler_.advance(kTtl * 10);
  EXPECT_EQ(states("a"), (States{LeaseState::jeopardy, LeaseState::held}));
}

TEST_F(SessionKeeperTest, SlowAnswersStillRenew) {
  const auto lease = keep("a");
  renewer_->latency = kTtl / 4;
  scheduler_.advance(kTtl * 20);
  EXPECT_EQ(state(*lease), LeaseState::held);
  EXPECT_TRUE(heard_["a"].empty());
}

TEST_F(SessionKeeperTest, ALeaseTheEngineForgotIsLostAloneAndNotAskedForAgain) {
  const auto a = keep("a");
  const auto b = keep("b");
  renewer_->fate.emplace(LockName{"a"}, Fate::gone);
  scheduler_.advance(kTtl * 3);
  EXPECT_EQ(a->loss_reason(env_.now()), LossReason::gone);
  EXPECT_EQ(state(*b), LeaseState::held);
  EXPECT_EQ(renewer_->asked[0].leases, 2U);
  EXPECT_EQ(renewer_->asked.back().leases, 1U);
}

TEST_F(SessionKeeperTest, ABrokenLeaseSaysSo) {
  const auto lease = keep("a");
  renewer_->fate.emplace(LockName{"a"}, Fate::broken);
  scheduler_.advance(kTtl);
  EXPECT_EQ(lease->loss_reason(env_.now()), LossReason::broken);
}

// The acknowledgement waits in the process's queue while the deadline passes.
TEST_F(SessionKeeperTest, AnAnswerReadAfterTheDeadlineDoesNotUndoTheLoss) {
  const auto lease = keep("a");
  scheduler_.advance(kTtl / 3);
  ASSERT_EQ(renewer_->asked.size(), 1U);
  env_.pause();
  scheduler_.advance(kTtl);
  EXPECT_EQ(state(*lease), LeaseState::lost);
  env_.resume();
  scheduler_.advance(kTtl);
  EXPECT_EQ(states("a"), States{LeaseState::lost});
  EXPECT_EQ(state(*lease), LeaseState::lost);
  EXPECT_EQ(renewer_->asked.size(), 1U);
}

// Goal: what another thread saw as lost is not held again, whatever the engine answers.
TEST_F(SessionKeeperTest, AnAnswerDoesNotUndoALossThatAnotherThreadSaw) {
  const auto lease = keep("a");
  scheduler_.advance(kTtl / 3);
  ASSERT_EQ(renewer_->asked.size(), 1U);
  ASSERT_TRUE(lease->deadline()->has_passed(lease->valid_until()));
  scheduler_.advance(kTtl / 3);
  EXPECT_EQ(states("a"), States{LeaseState::lost});
  EXPECT_EQ(lease->loss_reason(env_.now()), LossReason::expired);
}

TEST_F(SessionKeeperTest, TheSharedDeadlineFollowsTheRenewals) {
  const auto lease = keep("a");
  scheduler_.advance(kTtl * 10);
  EXPECT_EQ(lease->deadline()->until(), lease->valid_until());
  EXPECT_GT(lease->deadline()->until(), env_.now());
}

Task<void> renew_into(Env& env, std::shared_ptr<KeptLease> lease, Result<void>& result) {
  result = co_await SessionKeeper::renew(lease, env.now() + 1s);
}

struct Renewals final : RenewalListener {
  void renewed() override { ++count; }
  std::size_t count{0};
};

TEST_F(SessionKeeperTest, RenewalsAreToldOfLeasesThatAreToTellThem) {
  const auto observed = keep("a");
  const auto silent = keep("b");
  const auto told = std::make_shared<Renewals>();
  const auto untold = std::make_shared<Renewals>();
  observed->on_renewal(told);
  silent->on_renewal(untold);
  observed->tell_renewals();
  scheduler_.advance(kTtl * 10 + kTtl / 6);
  EXPECT_EQ(told->count, renewer_->asked.size());
  EXPECT_EQ(untold->count, 0U);
}

TEST_F(SessionKeeperTest, OnlyConfirmedRenewalsOfItsOwnAreTold) {
  const auto lease = keep("a");
  const auto told = std::make_shared<Renewals>();
  lease->on_renewal(told);
  lease->tell_renewals();
  Result<void> result = Unexpected{Error{Errc::internal}};
  env_.spawn(renew_into(env_, lease, result));
  scheduler_.advance(1s);
  EXPECT_TRUE(result);
  EXPECT_EQ(told->count, 0U) << "who asked for it knows";
  renewer_->reachable = false;
  scheduler_.advance(kTtl * 2);
  EXPECT_EQ(told->count, 0U);
}

TEST_F(SessionKeeperTest, RenewsOneLeaseOnDemand) {
  const auto a = keep("a");
  keep("b");
  scheduler_.advance(1s);
  const TimePoint before = a->valid_until();
  Result<void> result = Unexpected{Error{Errc::internal}};
  env_.spawn(renew_into(env_, a, result));
  scheduler_.advance(1s);
  EXPECT_TRUE(result);
  EXPECT_EQ(a->valid_until(), before + 1s);
  ASSERT_EQ(renewer_->asked.size(), 1U);
  EXPECT_EQ(renewer_->asked[0].leases, 1U);
}

TEST_F(SessionKeeperTest, ARenewalOnDemandTellsWhatBecameOfTheLease) {
  const auto lease = keep("a");
  Result<void> result;
  renewer_->reachable = false;
  env_.spawn(renew_into(env_, lease, result));
  scheduler_.advance(2s);
  EXPECT_EQ(result.error().code, Errc::unknown_outcome);
  EXPECT_EQ(state(*lease), LeaseState::held);
  renewer_->reachable = true;
  renewer_->fate.emplace(LockName{"a"}, Fate::broken);
  env_.spawn(renew_into(env_, lease, result));
  scheduler_.advance(100ms);
  EXPECT_EQ(result.error().code, Errc::lost);
  EXPECT_EQ(lease->loss_reason(env_.now()), LossReason::broken);
  keeper_.reset();
  env_.spawn(renew_into(env_, lease, result));
  scheduler_.advance(100ms);
  EXPECT_EQ(result.error().code, Errc::lost);
}

TEST_F(SessionKeeperTest, AForgottenLeaseIsReleasedAndNoLongerRenewed) {
  const auto lease = keep("a");
  keeper_->forget(*lease);
  scheduler_.advance(kTtl * 3);
  EXPECT_EQ(state(*lease), LeaseState::released);
  EXPECT_EQ(lease->loss_reason(env_.now()), LossReason::none);
  EXPECT_TRUE(renewer_->asked.empty());
  EXPECT_TRUE(heard_["a"].empty());
}

TEST_F(SessionKeeperTest, ForgettingALostLeaseLeavesItLost) {
  const auto lease = keep("a");
  keeper_->lose(lease->held().owner, LossReason::broken);
  keeper_->forget(*lease);
  EXPECT_EQ(state(*lease), LeaseState::lost);
  EXPECT_EQ(lease->loss_reason(env_.now()), LossReason::broken);
}

TEST_F(SessionKeeperTest, KeepsANewLeaseAfterTheLastOneWasForgotten) {
  keeper_->forget(*keep("a"));
  scheduler_.advance(kTtl);
  const auto lease = keep("b");
  scheduler_.advance(kTtl * 5);
  EXPECT_EQ(state(*lease), LeaseState::held);
}

TEST_F(SessionKeeperTest, AListenerMayForgetOtherLeases) {
  const auto other = keep("b");
  HeldLease held{LockName{"a"}, env_.fresh_owner(), Token{2}};
  const auto listener = [&](const LeaseEvent&) { keeper_->forget(*other); };
  const auto lease = keeper_->keep(std::move(held), env_.now(), listener);
  keeper_->lose(lease->held().owner, LossReason::gone);
  EXPECT_EQ(state(*other), LeaseState::released);
}

TEST_F(SessionKeeperTest, DestroyingTheKeeperAbandonsItsLeasesEvenWithARenewalUnderWay) {
  const auto lease = keep("a");
  renewer_->latency = 1s;
  scheduler_.advance(kTtl / 3 + 1ms);
  keeper_.reset();
  EXPECT_EQ(lease->loss_reason(env_.now()), LossReason::abandoned);
  scheduler_.advance(kTtl);
  EXPECT_EQ(states("a"), States{LeaseState::lost});
}

}  // namespace
}  // namespace holdfast::core
