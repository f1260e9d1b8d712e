#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>
#include <thread>

#include "client/fake_backend.h"
#include "client/prefix_backend.h"
#include "engines/local/test_directory.h"
#include "holdfast/metrics.h"
#include "observe/recorder_testing.h"

namespace holdfast::observe {
namespace {

using namespace std::chrono_literals;
using enum EventKind;
using Kinds = std::vector<EventKind>;
using testing::FakeBackend;

struct ObservedTest : ::testing::Test {
  std::shared_ptr<FakeBackend> engine = std::make_shared<FakeBackend>();
  std::shared_ptr<Recorder> recorder = std::make_shared<Recorder>();
  Client client = observed(Client{engine}, recorder);
};

struct ObservedLocalTest : ::testing::Test {
  Client connect() { return *Client::connect("local:" + directory.path()); }

  local::TestDirectory directory;
  std::shared_ptr<Recorder> recorder = std::make_shared<Recorder>();
  Client client = observed(connect(), recorder);
};

TEST_F(ObservedTest, LeaseIsToldFromGrantToRelease) {
  Token token{0};
  {
    auto lease = client.acquire("x");
    ASSERT_TRUE(lease);
    token = lease->token();
    ASSERT_TRUE(lease->renew());
    EXPECT_EQ(lease->release(), ReleaseOutcome::released);
    EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  }
  EXPECT_EQ(recorder->kinds(), (Kinds{acquired, renewed, released}));
  for (const auto& event : recorder->seen()) {
    EXPECT_EQ(event.name, "x");
    EXPECT_EQ(event.token, token);
  }
  EXPECT_TRUE(recorder->last(released)->held);
}

TEST_F(ObservedLocalTest, WhoMeetsNobodyHasNotWaitedWhateverItAsksFor) {
  for (const LeaseKind kind : {LeaseKind::session, LeaseKind::detached}) {
    std::promise<Lease> granted;
    client.async_acquire(
        "x", {.kind = kind}, {}, [&](auto lease) { granted.set_value(*std::move(lease)); });
    const Lease lease = granted.get_future().get();
    EXPECT_FALSE(recorder->last(acquired)->contended);
    EXPECT_EQ(recorder->last(acquired)->waited, Duration{0});
  }
}

TEST_F(ObservedTest, DestructorAndAsynchronousReleaseAreToldOnce) {
  { const auto lease = client.acquire("x"); }
  EXPECT_EQ(recorder->kinds(), (Kinds{acquired, released}));
  std::optional<ReleaseOutcome> outcome;
  {
    auto lease = client.acquire("y");
    lease->async_release([&](ReleaseOutcome said) { outcome = said; });
  }
  EXPECT_EQ(outcome, ReleaseOutcome::released);
  EXPECT_EQ(recorder->kinds(), (Kinds{acquired, released, acquired, released}));
}

TEST_F(ObservedTest, AsynchronousAcquisitionIsTold) {
  const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  std::optional<Lease> lease;
  client.async_acquire(
      "x", {.trace_id = trace}, {}, [&](auto result) { lease = std::move(*result); });
  ASSERT_TRUE(lease);
  EXPECT_NE(recorder->last(acquired)->json.find("\"trace_id\":\"" + trace), std::string::npos);
  lease.reset();
  EXPECT_EQ(recorder->kinds(), (Kinds{acquired, released}));
}

TEST_F(ObservedTest, RefusalHasItsReason) {
  const auto holder = client.acquire("x");
  EXPECT_FALSE(client.try_acquire("x"));
  EXPECT_EQ(recorder->last(refused)->error, Errc::busy);
  engine->fail_with(Errc::unavailable);
  EXPECT_FALSE(client.try_acquire("x"));
  EXPECT_EQ(recorder->last(refused)->error, Errc::unavailable);
}

TEST_F(ObservedTest, ContentionIsWhatTheEngineSays) {
  Client bare{engine};
  auto lease = bare.acquire("x");
  std::jthread waiter{[&] { EXPECT_TRUE(client.acquire("x")); }};
  while (engine->waiting("x") == 0) std::this_thread::yield();
  lease->release();
  waiter.join();
  EXPECT_TRUE(recorder->last(acquired)->contended);
  ASSERT_TRUE(client.acquire("y"));
  EXPECT_FALSE(recorder->last(acquired)->contended);
}

TEST_F(ObservedTest, LossIsToldOnceWithItsReason) {
  auto lease = client.acquire("x");
  ASSERT_TRUE(lease);
  bool program_heard = false;
  lease->on_event(
      [&](const LeaseEvent& event) { program_heard = event.state == LeaseState::lost; });
  engine->last()->lose(LossReason::evicted);
  EXPECT_TRUE(program_heard);
  EXPECT_EQ(lease->release(), ReleaseOutcome::already_lost);
  EXPECT_EQ(recorder->kinds(), (Kinds{acquired, lost, released}));
  EXPECT_EQ(recorder->last(lost)->reason, LossReason::evicted);
  EXPECT_EQ(recorder->last(released)->outcome, ReleaseOutcome::already_lost);
}

TEST_F(ObservedTest, DetachedLeaseIsLetGo) {
  {
    auto lease = client.acquire("x", {.kind = LeaseKind::detached});
    ASSERT_TRUE(lease->detach());
  }
  EXPECT_EQ(recorder->kinds(), (Kinds{acquired, detached}));
  const Owner owner = engine->last()->owner();
  ASSERT_TRUE(client.renew("x", owner, 1s));
  ASSERT_TRUE(client.release("x", owner));
  EXPECT_EQ(recorder->kinds(), (Kinds{acquired, detached, renewed, released}));
}

TEST_F(ObservedTest, BreakIsToldWithWhatItBroke) {
  const auto lease = client.acquire("x");
  ASSERT_TRUE(client.break_lock("x", "test"));
  EXPECT_EQ(recorder->last(broken)->name, "x");
}

TEST_F(ObservedTest, SecondObserverHearsTheSameAsTheFirst) {
  const auto second = std::make_shared<Recorder>();
  Client both = observed(client, second);
  { const auto lease = both.acquire("x"); }
  EXPECT_EQ(recorder->kinds(), (Kinds{acquired, released}));
  EXPECT_EQ(second->kinds(), (Kinds{acquired, released}));
}

TEST_F(ObservedTest, OtherCopiesOfTheClientAreNotObserved) {
  Client bare{engine};
  { const auto lease = bare.acquire("x"); }
  EXPECT_TRUE(recorder->seen().empty());
}

TEST_F(ObservedTest, NamesAreThoseTheProgramUses) {
  Client inside = observed(Client{with_prefix(engine, "team/")}, recorder);
  { const auto lease = inside.acquire("x"); }
  ASSERT_EQ(recorder->kinds(), (Kinds{acquired, released}));
  EXPECT_EQ(recorder->seen()[0].name, "x");
  EXPECT_EQ(recorder->seen()[1].name, "x");
}

TEST_F(ObservedTest, EngineMayTellOfALeaseWhoseFrontBehindAPrefixHasGone) {
  Client inside = observed(Client{with_prefix(engine, "team/")}, recorder);
  {
    auto lease = inside.acquire("x", {.kind = LeaseKind::detached});
    ASSERT_TRUE(lease && lease->detach());
  }
  engine->last()->lose(LossReason::evicted);
  EXPECT_EQ(recorder->kinds(), (Kinds{acquired, detached}));
}

TEST_F(ObservedLocalTest, LockThatIsFreeIsNotContended) {
  { const auto lease = client.acquire("x"); }
  const auto seen = recorder->last(acquired);
  EXPECT_FALSE(seen->contended);
  EXPECT_EQ(seen->waited, Duration{0});
}

TEST_F(ObservedLocalTest, RenewalsInTheBackgroundAreTold) {
  const auto lease = client.acquire("x", {.ttl = 1s});
  ASSERT_TRUE(lease);
  while (!recorder->last(renewed) && lease->ensure_held()) std::this_thread::yield();
  ASSERT_TRUE(recorder->last(renewed));
  EXPECT_EQ(recorder->last(renewed)->name, "x");
  EXPECT_EQ(recorder->last(renewed)->token, lease->token());
}

TEST_F(ObservedLocalTest, RenewalsInTheBackgroundAreToldUnderTheNameTheProgramUses) {
  Client inside =
      observed(*Client::connect("local:" + directory.path() + "?prefix=team/"), recorder);
  const auto lease = inside.acquire("x", {.ttl = 1s});
  ASSERT_TRUE(lease);
  while (!recorder->last(renewed) && lease->ensure_held()) std::this_thread::yield();
  ASSERT_TRUE(recorder->last(renewed));
  EXPECT_EQ(recorder->last(renewed)->name, "x");
}

// A thread reads the clock for this once per millisecond.
TEST_F(ObservedLocalTest, HoldIsTimedIfTheLastOneIsAMillisecondAgo) {
  const TimePoint before = BootClock::now();
  while (BootClock::now() < before + 2ms) std::this_thread::yield();
  { const auto lease = client.acquire("x"); }
  EXPECT_TRUE(recorder->last(released)->held);
}

// Again and again: one who asks may find the lock free when it looks, and the first wait only draws
// attention to the lock.
TEST_F(ObservedLocalTest, WaitAndHandOverAreTimed) {
  const auto timed = [this] {
    const auto seen = recorder->last(acquired);
    return seen && seen->hand_over;
  };
  for (int round = 0; round < 1000 && !timed(); ++round) {
    auto lease = client.acquire("x");
    ASSERT_TRUE(lease);
    std::jthread waiter{[&] { EXPECT_TRUE(client.acquire("x")); }};
    while (client.inspect("x")->waiters.empty()) std::this_thread::yield();
    lease->release();
  }
  const auto seen = recorder->last(acquired);
  ASSERT_TRUE(timed());
  EXPECT_TRUE(seen->contended);
  EXPECT_GT(seen->waited, Duration{0});
  EXPECT_LT(*seen->hand_over, seen->waited);
}

TEST_F(ObservedLocalTest, AsynchronousWaitIsTimed) {
  bool contended = false;
  for (int round = 0; round < 1000 && !contended; ++round) {
    auto lease = client.acquire("x");
    std::promise<bool> granted;
    client.async_acquire("x", {}, {}, [&](auto result) { granted.set_value(result.has_value()); });
    while (client.inspect("x")->waiters.empty()) std::this_thread::yield();
    lease->release();
    EXPECT_TRUE(granted.get_future().get());
    contended = recorder->last(acquired)->contended;
  }
  EXPECT_TRUE(contended);
}

TEST_F(ObservedLocalTest, BrokenLeaseIsLost) {
  auto lease = client.acquire("x");
  ASSERT_TRUE(client.break_lock("x", "test"));
  EXPECT_EQ(lease->release(), ReleaseOutcome::already_lost);
  EXPECT_EQ(recorder->kinds(), (Kinds{acquired, broken, lost, released}));
  EXPECT_EQ(recorder->last(lost)->reason, LossReason::broken);
}

TEST_F(ObservedLocalTest, StaleWriteAndConflictAreTold) {
  auto store = client.store();
  ASSERT_TRUE(store);
  auto old_lease = client.acquire("ledger");
  auto old_holder = store->open("ledger", *old_lease);
  ASSERT_TRUE(old_holder);
  old_lease->release();
  const auto next = client.acquire("ledger");
  ASSERT_TRUE(store->open("ledger", *next));
  EXPECT_EQ(old_holder->write("late").error().code, Errc::stale_token);
  EXPECT_EQ(recorder->last(stale)->name, "ledger");
  EXPECT_EQ(recorder->last(stale)->token, old_lease->token());

  ASSERT_TRUE(store->put("key", "1"));
  EXPECT_FALSE(store->put("key", "2", {.if_version = Version::absent()}));
  EXPECT_EQ(recorder->last(conflict)->name, "key");
}

TEST_F(ObservedLocalTest, LeaseMayOutliveTheClient) {
  std::optional<Lease> lease;
  std::weak_ptr<Recorder> observer = recorder;
  recorder.reset();
  lease.emplace(std::move(*client.acquire("x")));
  client = connect();
  EXPECT_FALSE(observer.expired());
  lease.reset();
  EXPECT_TRUE(observer.expired());
}

TEST_F(ObservedLocalTest, ForkedChildTellsNothing) {
  auto lease = client.acquire("x");
  ASSERT_TRUE(lease);
  const pid_t child = fork();
  if (child == 0) {
    { const Lease copy{std::move(*lease)}; }
    _exit(recorder->kinds() == Kinds{acquired} ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace holdfast::observe
