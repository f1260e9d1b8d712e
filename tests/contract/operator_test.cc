// What operators do from outside: look, list, watch, break.

#include <unistd.h>

#include <condition_variable>
#include <mutex>

#include "tests/contract/contract.h"

namespace holdfast::contract {
namespace {

using OperatorContract = ContractTest;
HOLDFAST_CONTRACT(OperatorContract);

/// Collects what watch() reports, on a thread of its own.
class Watcher {
 public:
  Watcher(Client client, std::string prefix)
      : thread_{[this, client = std::move(client), prefix = std::move(prefix)](
                    std::stop_token stop) mutable {
          const auto record = [this](const LockEvent& event) { add(event); };
          ended_well_ = client.watch(prefix, record, stop).has_value();
        }} {}

  bool wait_for(LockChange change, const std::string& name, const std::string& owner_fp) {
    std::unique_lock guard{guard_};
    return changed_.wait_for(guard, kPatience, [&] {
      for (const LockEvent& event : events_) {
        if (event.change == change && event.name == name && event.contender.owner_fp == owner_fp) {
          return true;
        }
      }
      return false;
    });
  }

  bool stop() {
    thread_.request_stop();
    thread_.join();
    return ended_well_;
  }

  /// After stop().
  const std::vector<LockEvent>& events() const { return events_; }

 private:
  void add(const LockEvent& event) {
    const std::lock_guard guard{guard_};
    events_.push_back(event);
    changed_.notify_all();
  }

  std::mutex guard_;
  std::condition_variable changed_;
  std::vector<LockEvent> events_;
  bool ended_well_{false};
  std::jthread thread_;
};

std::int64_t wall_clock_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<Millis>(now).count();
}

TEST_P(OperatorContract, InspectTellsWhoHoldsAndWhoWaits) {
  const std::int64_t before = wall_clock_ms();
  auto lease = client().acquire("x", {.ttl = 20s, .label = "nightly", .trace_id = "abc"});
  ASSERT_TRUE(lease);
  auto a = actor();
  PendingAnswer waiting = a->begin_acquire("lease", "x", {.label = "second"});
  ASSERT_TRUE(wait_for_waiters("x", 1));

  const LockInfo info = *client().inspect("x");
  EXPECT_EQ(info.name, "x");
  EXPECT_EQ(info.mode, Mode::exclusive);
  EXPECT_EQ(info.delay, 0ms);
  ASSERT_EQ(info.holders.size(), 1u);
  const Contender& holder = info.holders[0];
  EXPECT_EQ(holder.owner_fp, lease->owner().fingerprint());
  EXPECT_EQ(holder.token, lease->token());
  EXPECT_EQ(holder.mode, Mode::exclusive);
  EXPECT_EQ(holder.pid, getpid());
  EXPECT_FALSE(holder.host.empty());
  EXPECT_EQ(holder.label, "nightly");
  EXPECT_EQ(holder.trace_id, "abc");
  EXPECT_GE(holder.since_ms, before - 1000);
  EXPECT_LE(holder.since_ms, wall_clock_ms() + 1000);
  EXPECT_GT(holder.ttl, 0ms);
  EXPECT_LE(holder.ttl, 20s);
  EXPECT_FALSE(holder.foreign);
  EXPECT_EQ(info.waiters.at(0).label, "second");
  EXPECT_NE(info.waiters.at(0).pid, getpid());
}

TEST_P(OperatorContract, InspectOfAFreeLockIsEmpty) {
  const auto never = client().inspect("never used");
  ASSERT_TRUE(never);
  EXPECT_TRUE(never->holders.empty() && never->waiters.empty());
  next_token("used");
  EXPECT_TRUE(client().inspect("used")->holders.empty());
}

TEST_P(OperatorContract, ListIsSortedAndFiltered) {
  std::vector<Lease> leases;
  for (const char* name : {"b", "a/2", "a/1", "c"}) {
    auto lease = client().acquire(name);
    ASSERT_TRUE(lease);
    leases.push_back(std::move(*lease));
  }
  next_token("a/free");
  const auto names = [&](std::string_view prefix) {
    std::vector<std::string> found;
    const auto locks = client().list(prefix);
    for (const LockInfo& lock : *locks) found.push_back(lock.name);
    return found;
  };
  EXPECT_EQ(names(""), (std::vector<std::string>{"a/1", "a/2", "b", "c"}));
  EXPECT_EQ(names("a/"), (std::vector<std::string>{"a/1", "a/2"}));
  EXPECT_TRUE(names("zzz").empty());
}

TEST_P(OperatorContract, WatchReportsWhatIsAndWhatChanges) {
  if (!can(&Capabilities::watch, {})) return;
  auto first = client().acquire("a/x");
  auto elsewhere = client().acquire("b/x");
  ASSERT_TRUE(first && elsewhere);
  Watcher watcher{reconnect(), "a/"};
  EXPECT_TRUE(watcher.wait_for(LockChange::granted, "a/x", first->owner().fingerprint()));

  auto a = actor();
  PendingAnswer pending = a->begin_acquire("lease", "a/x", {.ttl = GetParam().ttl_of_the_dying});
  ASSERT_TRUE(wait_for_waiters("a/x", 1));
  const std::string waiter = client().inspect("a/x")->waiters.at(0).owner_fp;
  EXPECT_TRUE(watcher.wait_for(LockChange::waiting, "a/x", waiter));
  first->release();
  EXPECT_TRUE(watcher.wait_for(LockChange::released, "a/x", first->owner().fingerprint()));
  const Answer second = pending.get();
  ASSERT_TRUE(second.granted());
  EXPECT_TRUE(watcher.wait_for(LockChange::granted, "a/x", second.owner.fingerprint()));
  a->kill();
  EXPECT_TRUE(watcher.wait_for(LockChange::released, "a/x", second.owner.fingerprint()));

  EXPECT_TRUE(watcher.stop());
  for (const LockEvent& event : watcher.events()) EXPECT_EQ(event.name, "a/x");
}

TEST_P(OperatorContract, BreakTakesTheLockAndTellsTheHolder) {
  auto a = actor();
  const Answer first = a->acquire("lease", "x", {.ttl = 3s});
  ASSERT_TRUE(first.granted());
  auto b = actor();
  PendingAnswer pending = b->begin_acquire("lease", "x");
  ASSERT_TRUE(wait_for_waiters("x", 1));

  const auto report = operator_client().break_lock("x", "the holder is stuck");
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->holders.size(), 1u);
  EXPECT_EQ(report->holders[0].owner_fp, first.owner.fingerprint());
  EXPECT_GT(pending.get().token, first.token);
  EXPECT_TRUE(eventually([&] { return a->view("lease").stop_requested; }));
  EXPECT_TRUE(eventually([&] { return a->view("lease").loss_events == 1; }));
  const LeaseView view = a->view("lease");
  EXPECT_EQ(view.state, "lost");
  EXPECT_EQ(view.reason, "broken");
  EXPECT_FALSE(view.ensure_held);
  EXPECT_EQ(a->release("lease"), "already_lost");
  EXPECT_TRUE(b->view("lease").ensure_held);
}

TEST_P(OperatorContract, BreakRemovesEveryReader) {
  if (!can(&Capabilities::shared, {.mode = Mode::shared})) return;
  auto first = client().acquire("x", {.mode = Mode::shared});
  auto second = client().acquire("x", {.mode = Mode::shared});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(operator_client().break_lock("x", "test")->holders.size(), 2u);
  EXPECT_TRUE(eventually([&] { return !first->ensure_held() && !second->ensure_held(); }));
  EXPECT_EQ(first->loss_reason(), LossReason::broken);
  EXPECT_TRUE(client().try_acquire("x"));
}

TEST_P(OperatorContract, BreakingAFreeLockIsNotFound) {
  EXPECT_EQ(operator_client().break_lock("x", "test").error().code, Errc::not_found);
  next_token("x");
  EXPECT_EQ(operator_client().break_lock("x", "test").error().code, Errc::not_found);
}

TEST_P(OperatorContract, BreakOfADetachedLeaseIsFinal) {
  if (!can(&Capabilities::detached, {.kind = LeaseKind::detached})) return;
  auto lease = client().acquire("x", {.kind = LeaseKind::detached});
  ASSERT_TRUE(lease);
  ASSERT_TRUE(operator_client().break_lock("x", "test"));
  EXPECT_EQ(client().renew("x", lease->owner(), 1s).error().code, Errc::lost);
  EXPECT_TRUE(client().try_acquire("x"));
}

}  // namespace
}  // namespace holdfast::contract
