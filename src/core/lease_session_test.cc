#include "core/lease_session.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "core/validity.h"
#include "sim/world/sim_env.h"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

/// Grants everything after a while, and notes what it was asked.
class FakeEngine final : public LeaseEngine {
 public:
  explicit FakeEngine(Env& env) : env_{env} {}

  Task<Result<Grant, AcquireError>> acquire(LockRequest request,
                                            TimePoint,
                                            std::stop_token) override {
    const TimePoint sent_at = env_.now();
    const Millis ttl = request.ttl;
    ++at_engine;
    most_at_engine = std::max(most_at_engine, at_engine);
    owners.push_back(request.owner);
    kinds.push_back(request.kind);
    co_await env_.sleep_for(10ms);
    --at_engine;
    if (refusals > 0) {
      --refusals;
      co_return Unexpected{AcquireError{Errc::busy}};
    }
    co_return Grant{.token = Token{owners.size()},
                    .sent_at = sent_at,
                    .valid_until = deadline_of(sent_at, ttl),
                    .ttl = adjusted,
                    .met = met};
  }
  Task<Result<std::vector<Fate>>> renew(std::vector<HeldLease> leases,
                                        Millis ttl,
                                        TimePoint) override {
    renewed_for = ttl;
    if (!fate) co_return Unexpected{Error{Errc::unavailable, "down"}};
    co_return std::vector<Fate>(leases.size(), *fate);
  }
  Task<ReleaseOutcome> release(HeldLease, TimePoint, TimePoint) override {
    ++releases;
    co_return ReleaseOutcome::released;
  }
  void abandon(LockName, Owner owner, Millis) override { abandoned.push_back(owner); }
  void tell(std::weak_ptr<LeaseNews> to) override { news = std::move(to); }

  std::optional<Fate> fate{Fate::renewed};
  int refusals{0};
  int at_engine{0};
  int most_at_engine{0};
  int releases{0};
  std::vector<Owner> owners;
  std::vector<LeaseKind> kinds;
  /// The TTL that is granted instead of the one asked for.
  std::optional<Millis> adjusted;
  Met met{Met::nobody};
  Millis renewed_for{0};
  std::vector<Owner> abandoned;
  std::weak_ptr<LeaseNews> news;

 private:
  Env& env_;
};

class LeaseSessionTest : public testing::Test {
 protected:
  using Lease = LeaseSession::Lease;

  static Task<void> acquire_into(LeaseSessionTest& test, std::vector<Lease>& leases) {
    const LeaseSession::Wanted wanted{.name = LockName{"ledger"}, .ttl = 9s, .claim = test.claim_};
    const TimePoint wait_until = test.env_.now() + test.wait_;
    const std::stop_token never;
    const LeaseSession::Listener deaf;
    auto lease = co_await test.session_->acquire(wanted, wait_until, never, deaf);
    if (lease) leases.push_back(*lease);
  }

  static Task<void> acquire_detached(LeaseSessionTest& test) {
    const LeaseSession::Wanted wanted{.name = LockName{"ledger"}, .ttl = 9s};
    const TimePoint wait_until = test.env_.now() + test.wait_;
    const std::stop_token never;
    static_cast<void>(co_await test.session_->acquire_detached(wanted, wait_until, never));
  }

  static Task<void> release_into(LeaseSessionTest& test, Lease lease, ReleaseOutcome& outcome) {
    const TimePoint answer_by = test.env_.now() + 1s;
    outcome = co_await test.session_->release(lease, answer_by);
  }

  Lease acquire() {
    std::vector<Lease> leases;
    env_.spawn(acquire_into(*this, leases));
    scheduler_.advance(1s);
    EXPECT_EQ(leases.size(), 1U);
    return leases.at(0);
  }

  ReleaseOutcome release(const Lease& lease) {
    ReleaseOutcome outcome = ReleaseOutcome::unknown;
    env_.spawn(release_into(*this, lease, outcome));
    scheduler_.advance(1s);
    return outcome;
  }

  Duration wait_{1min};
  Claim claim_{};
  sim::Scheduler scheduler_;
  sim::SimEnv env_{scheduler_, 1};
  std::shared_ptr<FakeEngine> engine_{std::make_shared<FakeEngine>(env_)};
  std::shared_ptr<LeaseSession> session_{std::make_shared<LeaseSession>(env_, engine_)};
};

TEST_F(LeaseSessionTest, TasksOfOneProcessAreAtTheEngineOneAfterTheOther) {
  std::vector<Lease> leases;
  for (int i = 0; i < 3; ++i) env_.spawn(acquire_into(*this, leases));
  scheduler_.advance(1s);
  EXPECT_EQ(leases.size(), 3U);
  EXPECT_EQ(engine_->most_at_engine, 1);
}

TEST_F(LeaseSessionTest, TheTtlThatTheEngineGrantedIsTheOneInForce) {
  engine_->adjusted = 30s;
  const Lease lease = acquire();
  EXPECT_EQ(lease->ttl(), Duration{30s});
  scheduler_.advance(11s);
  EXPECT_EQ(engine_->renewed_for, Millis{30s});
  EXPECT_EQ(release(lease), ReleaseOutcome::released);
}

TEST_F(LeaseSessionTest, TheEngineIsToldWhatNobodyWillRenew) {
  env_.spawn(acquire_detached(*this));
  scheduler_.advance(1s);
  static_cast<void>(acquire());
  const std::vector<LeaseKind> expected{LeaseKind::detached, LeaseKind::session};
  EXPECT_EQ(engine_->kinds, expected);
}

TEST_F(LeaseSessionTest, WhoDoesNotWaitForOthersDoesNotWaitForItsOwnEither) {
  wait_ = Duration{0};
  std::vector<Lease> leases;
  for (int i = 0; i < 3; ++i) env_.spawn(acquire_into(*this, leases));
  scheduler_.advance(1s);
  EXPECT_EQ(leases.size(), 3U);
  EXPECT_EQ(engine_->most_at_engine, 3);
}

TEST_F(LeaseSessionTest, AsksAnEngineWithoutAQueueAgainUnderAnotherOwner) {
  engine_->refusals = 2;
  acquire();
  ASSERT_EQ(engine_->owners.size(), 3U);
  EXPECT_NE(engine_->owners[0], engine_->owners[1]);
}

TEST_F(LeaseSessionTest, ALeaseTellsWhetherOthersWereInTheWayAtTheEngine) {
  EXPECT_EQ(acquire()->met(), Met::nobody);
  engine_->met = Met::others;
  EXPECT_EQ(acquire()->met(), Met::others);
}

TEST_F(LeaseSessionTest, WhoWasRefusedBeforeHasMetOthers) {
  engine_->refusals = 1;
  EXPECT_EQ(acquire()->met(), Met::others);
}

TEST_F(LeaseSessionTest, WhoWaitedForAnotherTaskHasMetOthers) {
  std::vector<Lease> leases;
  for (int i = 0; i < 2; ++i) env_.spawn(acquire_into(*this, leases));
  scheduler_.advance(1s);
  ASSERT_EQ(leases.size(), 2U);
  EXPECT_EQ(leases[0]->met(), Met::nobody);
  EXPECT_EQ(leases[1]->met(), Met::others);
}

TEST_F(LeaseSessionTest, WhoDoesNotWaitAsksOnce) {
  engine_->refusals = 2;
  wait_ = Duration{0};
  std::vector<Lease> leases;
  env_.spawn(acquire_into(*this, leases));
  scheduler_.advance(1s);
  EXPECT_TRUE(leases.empty());
  EXPECT_EQ(engine_->owners.size(), 1U);
}

TEST_F(LeaseSessionTest, EveryAttemptHasAnOwnerOfItsOwn) {
  acquire();
  acquire();
  ASSERT_EQ(engine_->owners.size(), 2U);
  EXPECT_NE(engine_->owners[0], engine_->owners[1]);
}

TEST_F(LeaseSessionTest, ReleasesOnceAndAnswersTheSameAgain) {
  const Lease lease = acquire();
  EXPECT_EQ(release(lease), ReleaseOutcome::released);
  EXPECT_EQ(release(lease), ReleaseOutcome::released);
  EXPECT_EQ(engine_->releases, 1);
  EXPECT_TRUE(engine_->abandoned.empty());
}

TEST_F(LeaseSessionTest, ALeaseThatRanOutIsReleasedAtTheEngineToo) {
  const Lease lease = acquire();
  engine_->fate.reset();
  scheduler_.advance(10s);
  EXPECT_EQ(lease->loss_reason(env_.now()), LossReason::expired);
  EXPECT_EQ(engine_->abandoned, std::vector{lease->held().owner});
  EXPECT_EQ(release(lease), ReleaseOutcome::already_lost);
}

TEST_F(LeaseSessionTest, WhatTheEngineHearsOfALeaseEndsIt) {
  const Lease lease = acquire();
  const Lease other = acquire();
  engine_->news.lock()->lost(lease->held().owner, LossReason::broken);
  EXPECT_EQ(lease->loss_reason(env_.now()), LossReason::broken);
  EXPECT_EQ(other->state(env_.now()), LeaseState::held);
}

TEST_F(LeaseSessionTest, InDoubtLeasesAreRenewedAtOnce) {
  const Lease lease = acquire();
  engine_->fate = Fate::restarted;
  engine_->news.lock()->in_doubt();
  scheduler_.advance(1ms);
  EXPECT_EQ(lease->loss_reason(env_.now()), LossReason::restarted);
  session_.reset();
  EXPECT_TRUE(engine_->news.expired());
}

TEST_F(LeaseSessionTest, WhoSharesIsAtTheEngineAtOnce) {
  claim_ = {.mode = Mode::shared};
  std::vector<Lease> leases;
  for (int i = 0; i < 3; ++i) env_.spawn(acquire_into(*this, leases));
  scheduler_.advance(1s);
  ASSERT_EQ(leases.size(), 3U);
  EXPECT_EQ(engine_->most_at_engine, 3);
  EXPECT_EQ(leases[0]->held().claim.mode, Mode::shared);
}

// Goal: what is gone from most of several servers does not stay on the rest.
TEST_F(LeaseSessionTest, WhatIsLeftOfALeaseThatIsGoneIsReleased) {
  const Lease lease = acquire();
  engine_->fate = Fate::gone;
  scheduler_.advance(5s);
  EXPECT_EQ(lease->loss_reason(env_.now()), LossReason::gone);
  EXPECT_EQ(engine_->abandoned, std::vector{lease->held().owner});
}

}  // namespace
}  // namespace holdfast::core
