#include "core/session_lease.h"

#include <gtest/gtest.h>

#include <future>

#include "core/session_testing.h"
#include "runtime/asio_env.h"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;
using testing::eventually;
using testing::kPatience;

using Core = std::shared_ptr<LeaseCore>;
using States = std::vector<LeaseState>;

/// Notes what a lease tells.
class Listener {
 public:
  explicit Listener(LeaseCore& lease) : lease_{lease} {
    lease.on_event([this](const LeaseEvent& event) { add(event); });
  }
  ~Listener() { lease_.on_event(nullptr); }

  std::vector<LeaseEvent> events() const {
    const std::lock_guard guard{guard_};
    return events_;
  }
  States states() const {
    States states;
    for (const LeaseEvent& event : events()) states.push_back(event.state);
    return states;
  }

 private:
  void add(const LeaseEvent& event) {
    const std::lock_guard guard{guard_};
    events_.push_back(event);
  }

  LeaseCore& lease_;
  mutable std::mutex guard_;
  std::vector<LeaseEvent> events_;
};

/// Counts the renewals it hears of.
class Witness final : public LeaseWitness {
 public:
  TimePoint ending(const LeaseCore&) noexcept override { return {}; }
  void ended(LeaseCore&, std::optional<ReleaseOutcome>, TimePoint) noexcept override {}
  void renewed(LeaseCore&, const Result<void>&) noexcept override {}
  void kept(const LeaseCore& lease) noexcept override {
    if (lease.shown_name() == "x") ++renewals;
  }
  void changed(LeaseCore&, const LeaseEvent&) noexcept override {}

  std::atomic<int> renewals{0};
};

class SessionLeaseTest : public ::testing::Test {
 protected:
  Core acquire(Millis ttl, LeaseKind kind = LeaseKind::session) {
    auto lease = backend_->acquire("x", {.ttl = ttl, .wait = kPatience, .kind = kind}, {});
    if (!lease) throw std::runtime_error{lease.error().message};
    return *std::move(lease);
  }
  Core acquire_detached(Millis ttl) { return acquire(ttl, LeaseKind::detached); }

  bool is_held() { return server_->is_held("x", BootClock::now()); }

  std::shared_ptr<testing::FakeServer> server_{std::make_shared<testing::FakeServer>()};
  std::shared_ptr<SessionBackend> backend_ = testing::start(*runtime::AsioEnv::create(), server_);
};

TEST_F(SessionLeaseTest, DescribesItself) {
  const TimePoint before = BootClock::now();
  const Core lease = acquire(10s);
  EXPECT_EQ(lease->name(), "x");
  EXPECT_EQ(lease->mode(), Mode::exclusive);
  EXPECT_EQ(lease->token(), Token{1});
  EXPECT_EQ(lease->ttl(), 10s);
  EXPECT_EQ(lease->state(), LeaseState::held);
  EXPECT_EQ(lease->loss_reason(), LossReason::none);
  EXPECT_GE(lease->valid_until(), before + 10s - 102ms);
  EXPECT_FALSE(lease->stop_token().stop_requested());
  EXPECT_NE(lease->sequencer().find(lease->owner().fingerprint()), std::string::npos);
}

TEST_F(SessionLeaseTest, IsRenewedForManyTtls) {
  const Core lease = acquire(150ms);
  const Listener listener{*lease};
  const TimePoint first = lease->valid_until();
  EXPECT_TRUE(eventually([&] { return lease->valid_until() > first + 600ms; }));
  EXPECT_NE(lease->state(), LeaseState::lost);
}

TEST_F(SessionLeaseTest, WitnessHearsOfRenewalsInTheBackgroundUntilTheRelease) {
  const auto witness = std::make_shared<Witness>();
  backend_->keep(witness);
  const Core lease = acquire(150ms);
  lease->witnessed_by(*witness, Ending::untold, 1);
  EXPECT_TRUE(eventually([&] { return witness->renewals >= 3; }));
  EXPECT_LE(witness->renewals, server_->renewals);
  lease->release();
}

TEST_F(SessionLeaseTest, TellsWhetherOthersWereInTheWay) {
  for (const LeaseKind kind : {LeaseKind::session, LeaseKind::detached}) {
    const Core first = acquire(10s, kind);
    EXPECT_EQ(first->arrival().met, Met::nobody);
    auto second = std::async(std::launch::async, [&] { return acquire(10s, kind); });
    EXPECT_TRUE(eventually([&] { return server_->waiting == 1; }));
    first->release();
    const Core next = second.get();
    EXPECT_EQ(next->arrival().met, Met::others);
    next->release();
  }
}

TEST_F(SessionLeaseTest, RenewExtendsTheDeadlineAtOnce) {
  const Core lease = acquire(1h);
  const TimePoint before = lease->valid_until();
  ASSERT_TRUE(lease->renew());
  EXPECT_GT(lease->valid_until(), before);
  EXPECT_EQ(server_->renewals, 1);
}

TEST_F(SessionLeaseTest, RenewThatIsNotAnsweredLeavesTheDeadline) {
  backend_ = testing::start(*runtime::AsioEnv::create(), server_, 50ms);
  const Core lease = acquire(1h);
  const TimePoint before = lease->valid_until();
  server_->silent = true;
  EXPECT_EQ(lease->renew().error().code, Errc::unknown_outcome);
  EXPECT_EQ(lease->valid_until(), before);
  EXPECT_EQ(lease->state(), LeaseState::held);
}

TEST_F(SessionLeaseTest, UnansweredRenewalsLeadThroughJeopardyToLoss) {
  const Core lease = acquire(300ms);
  const Listener listener{*lease};
  const std::stop_token stop = lease->stop_token();
  server_->silent = true;
  EXPECT_TRUE(eventually([&] { return stop.stop_requested(); }));
  EXPECT_TRUE(eventually([&] { return listener.states().size() >= 2; }));
  EXPECT_EQ(listener.states(), (States{LeaseState::jeopardy, LeaseState::lost}));
  EXPECT_EQ(listener.events().back().reason, LossReason::expired);
  EXPECT_EQ(lease->state(), LeaseState::lost);
  EXPECT_EQ(lease->loss_reason(), LossReason::expired);
  EXPECT_EQ(lease->valid_until(), TimePoint{});
  EXPECT_EQ(lease->release(), ReleaseOutcome::already_lost);
  EXPECT_EQ(lease->renew().error().code, Errc::lost);
}

// Goal: the holder knows at the deadline, though nothing else of the process runs.
TEST_F(SessionLeaseTest, EndsByItsDeadlineWhileTheEnvIsHeldUp) {
  const Core lease = acquire(200ms);
  const Listener listener{*lease};
  {
    const testing::Stall stall{backend_->env()};
    const TimePoint deadline = lease->valid_until();
    ASSERT_TRUE(eventually([&] { return lease->state() == LeaseState::lost; }));
    EXPECT_GE(BootClock::now(), deadline);
    EXPECT_EQ(lease->loss_reason(), LossReason::expired);
    EXPECT_TRUE(lease->stop_token().stop_requested());
  }
  EXPECT_TRUE(eventually([&] { return !listener.states().empty(); }));
  EXPECT_EQ(listener.states(), States{LeaseState::lost});
  EXPECT_EQ(lease->release(), ReleaseOutcome::already_lost);
}

TEST_F(SessionLeaseTest, ABrokenLeaseSaysSoAndItsCallbackMayRelease) {
  const Core lease = acquire(1h);
  std::promise<ReleaseOutcome> outcome;
  lease->on_event([&](const LeaseEvent& event) {
    if (event.state == LeaseState::lost) outcome.set_value(lease->release());
  });
  ASSERT_TRUE(backend_->break_lock("x", "test"));
  const auto refused = lease->renew();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::lost);
  EXPECT_NE(refused.error().message.find("broken"), std::string::npos);
  EXPECT_EQ(lease->loss_reason(), LossReason::broken);
  auto answer = outcome.get_future();
  ASSERT_EQ(answer.wait_for(kPatience), std::future_status::ready);
  EXPECT_EQ(answer.get(), ReleaseOutcome::already_lost);
  lease->on_event(nullptr);
}

TEST_F(SessionLeaseTest, WhoListensTooLateIsToldOnce) {
  const Core lease = acquire(1h);
  ASSERT_TRUE(backend_->break_lock("x", "test"));
  ASSERT_FALSE(lease->renew());
  const Listener listener{*lease};
  EXPECT_TRUE(eventually([&] { return !listener.states().empty(); }));
  // Everything that was posted before this has been delivered when it is.
  std::promise<void> drained;
  backend_->dispatcher().post([&] { drained.set_value(); });
  drained.get_future().get();
  EXPECT_EQ(listener.states(), States{LeaseState::lost});
  EXPECT_TRUE(lease->stop_token().stop_requested());
}

TEST_F(SessionLeaseTest, ReleaseIsIdempotentAndIsTold) {
  const Core lease = acquire(1h);
  const Listener listener{*lease};
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  EXPECT_FALSE(is_held());
  EXPECT_EQ(lease->state(), LeaseState::released);
  EXPECT_EQ(lease->loss_reason(), LossReason::none);
  EXPECT_EQ(lease->valid_until(), TimePoint{});
  const Core next = acquire(1h);
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  EXPECT_TRUE(is_held());
  EXPECT_EQ(lease->renew().error().code, Errc::lost);
  EXPECT_TRUE(eventually([&] { return !listener.states().empty(); }));
  EXPECT_EQ(listener.states(), States{LeaseState::released});
  EXPECT_FALSE(lease->stop_token().stop_requested());
}

TEST_F(SessionLeaseTest, ThreadsThatReleaseTogetherHearTheSame) {
  const Core lease = acquire(1h);
  std::vector<std::future<ReleaseOutcome>> outcomes;
  for (int i = 0; i < 4; ++i) {
    outcomes.push_back(std::async(std::launch::async, [&] { return lease->release(); }));
  }
  for (auto& outcome : outcomes) EXPECT_EQ(outcome.get(), ReleaseOutcome::released);
  EXPECT_EQ(server_->releases, 1);
}

TEST_F(SessionLeaseTest, ReleaseOfWhatTheEngineForgotIsALoss) {
  const Core lease = acquire(1h);
  ASSERT_TRUE(backend_->break_lock("x", "test"));
  EXPECT_EQ(lease->release(), ReleaseOutcome::already_lost);
  EXPECT_EQ(lease->state(), LeaseState::lost);
  EXPECT_EQ(lease->loss_reason(), LossReason::gone);
  EXPECT_EQ(lease->release(), ReleaseOutcome::already_lost);
}

TEST_F(SessionLeaseTest, ReleaseIsBoundedWhenTheEngineIsSilent) {
  backend_ = testing::start(*runtime::AsioEnv::create(), server_, 50ms);
  const Core lease = acquire(1h);
  server_->silent = true;
  EXPECT_EQ(lease->release(), ReleaseOutcome::unknown);
  EXPECT_EQ(lease->state(), LeaseState::released);
  server_->silent = false;
  EXPECT_EQ(lease->release(), ReleaseOutcome::unknown);
}

TEST_F(SessionLeaseTest, ReleaseIsBoundedWhenTheEnvIsHeldUp) {
  backend_ = testing::start(*runtime::AsioEnv::create(), server_, 50ms);
  const Core lease = acquire(1h);
  {
    const testing::Stall stall{backend_->env()};
    EXPECT_EQ(lease->release(), ReleaseOutcome::unknown);
  }
  EXPECT_TRUE(eventually([&] { return !is_held(); }));
  EXPECT_EQ(lease->release(), ReleaseOutcome::unknown);
}

TEST_F(SessionLeaseTest, DroppingHasReleasedWhenItReturns) {
  acquire(1h)->drop();
  EXPECT_FALSE(is_held());
}

TEST_F(SessionLeaseTest, DroppingIsBoundedWhenTheEnvIsHeldUp) {
  backend_ = testing::start(*runtime::AsioEnv::create(), server_, 50ms);
  Core lease = acquire(1h);
  {
    const testing::Stall stall{backend_->env()};
    lease->drop();
    lease.reset();
    EXPECT_TRUE(is_held());
  }
  EXPECT_TRUE(eventually([&] { return !is_held(); }));
}

TEST_F(SessionLeaseTest, ItsCallbackMayDropTheLastReference) {
  const auto last = std::make_shared<Core>(acquire(150ms));
  const std::weak_ptr<LeaseCore> weak = *last;
  (*last)->on_event([last](const LeaseEvent& event) {
    if (event.state == LeaseState::lost) last->reset();
  });
  ASSERT_TRUE(backend_->break_lock("x", "test"));
  EXPECT_TRUE(eventually([&] { return weak.expired(); }));
}

TEST_F(SessionLeaseTest, ASessionLeaseCannotBeDetached) {
  const Core lease = acquire(1h);
  EXPECT_EQ(lease->detach().error().code, Errc::unsupported);
  EXPECT_EQ(lease->state(), LeaseState::held);
}

TEST_F(SessionLeaseTest, ADetachedLeaseIsNotRenewedAndSaysSo) {
  const Core lease = acquire_detached(300ms);
  const Listener listener{*lease};
  EXPECT_TRUE(eventually([&] { return listener.states().size() >= 2; }));
  EXPECT_EQ(listener.states(), (States{LeaseState::jeopardy, LeaseState::lost}));
  EXPECT_EQ(lease->loss_reason(), LossReason::expired);
  EXPECT_TRUE(lease->stop_token().stop_requested());
  EXPECT_EQ(lease->release(), ReleaseOutcome::already_lost);
  EXPECT_EQ(lease->renew().error().code, Errc::lost);
  EXPECT_EQ(server_->renewals, 0);
}

TEST_F(SessionLeaseTest, ADetachedLeaseIsRenewedOnDemand) {
  const Core lease = acquire_detached(1h);
  const TimePoint before = lease->valid_until();
  ASSERT_TRUE(lease->renew());
  EXPECT_GT(lease->valid_until(), before);
  ASSERT_TRUE(backend_->break_lock("x", "test"));
  EXPECT_EQ(lease->renew().error().code, Errc::lost);
  EXPECT_EQ(lease->loss_reason(), LossReason::gone);
}

TEST_F(SessionLeaseTest, WhatWasDetachedLivesOn) {
  Core lease = acquire_detached(1h);
  const Owner owner = lease->owner();
  ASSERT_TRUE(lease->detach());
  lease->drop();
  lease.reset();
  EXPECT_EQ(backend_->inspect("x")->holders.size(), 1U);
  EXPECT_GT(*backend_->renew("x", owner, 2h), 1h);
  EXPECT_EQ(*backend_->release("x", owner), ReleaseOutcome::released);
  EXPECT_FALSE(is_held());
}

TEST_F(SessionLeaseTest, ADetachedLeaseThatWasNotDetachedIsReleasedWhenDropped) {
  Core lease = acquire_detached(1h);
  lease->drop();
  EXPECT_TRUE(eventually([&] { return !is_held(); }));
}

TEST_F(SessionLeaseTest, AForkedChildHoldsNothing) {
  Core lease = acquire(1h);
  const Listener listener{*lease};
  EXPECT_EQ(testing::in_fork([&] {
              if (lease->state() != LeaseState::lost) return 1;
              if (lease->loss_reason() != LossReason::abandoned) return 2;
              if (lease->release() == ReleaseOutcome::released) return 3;
              if (lease->renew()) return 4;
              lease->on_event(nullptr);
              lease->drop();
              return 0;
            }),
            0);
  EXPECT_EQ(lease->state(), LeaseState::held);
  EXPECT_TRUE(is_held());
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
}

}  // namespace
}  // namespace holdfast::core
