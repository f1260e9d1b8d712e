#include "engines/zookeeper/zookeeper_desk.h"

#include "engines/zookeeper/zookeeper_testing.h"

namespace holdfast::zookeeper::testing {
namespace {

class ZookeeperDeskTest : public ZookeeperEngineTest {
 protected:
  LockInfo inspect(const std::string& name = "ledger") {
    const auto info = bob_.wait_for(bob_.desk->inspect(LockName{name}, bob_.soon()));
    EXPECT_TRUE(info);
    return info ? *info : LockInfo{};
  }
  std::vector<std::string> list(const std::string& prefix) {
    const auto found = bob_.wait_for(bob_.desk->list(prefix, bob_.soon()));
    EXPECT_TRUE(found);
    std::vector<std::string> names;
    if (found) {
      for (const LockInfo& info : *found) names.push_back(info.name);
    }
    return names;
  }
  core::LeaseSession::Detached detached(Millis ttl) {
    const auto taken = alice_.acquire({.ttl = ttl, .kind = LeaseKind::detached});
    EXPECT_TRUE(taken->detached);
    return *taken->detached;
  }
  Result<Duration> extend(const Owner& owner, Millis ttl) {
    return bob_.wait_for(bob_.desk->extend(LockName{"ledger"}, owner, ttl, bob_.soon()));
  }
  Result<ReleaseOutcome> release(const Owner& owner) {
    return bob_.wait_for(bob_.desk->release(LockName{"ledger"}, owner, bob_.soon()));
  }
  Result<BreakReport> break_lock() {
    return bob_.wait_for(bob_.desk->break_lock(LockName{"ledger"}, "stuck", bob_.soon()));
  }
};

using Names = std::vector<std::string>;

TEST_F(ZookeeperDeskTest, ShowsWhoHoldsAndWhoWaits) {
  const auto taken = alice_.acquire({.ttl = 8s});
  const auto waiting = bob_.begin({.wait = 1min, .claim = {.mode = Mode::shared}});
  advance(1s);
  const LockInfo info = inspect();
  ASSERT_EQ(info.holders.size(), 1U);
  EXPECT_EQ(info.holders[0].owner_fp, taken->lease->held().owner.fingerprint());
  EXPECT_EQ(info.holders[0].token, taken->lease->held().token);
  EXPECT_EQ(info.holders[0].ttl, 8s);
  EXPECT_FALSE(info.holders[0].foreign);
  ASSERT_EQ(info.waiters.size(), 1U);
  EXPECT_EQ(info.waiters[0].mode, Mode::shared);
  EXPECT_EQ(inspect("nobody").holders.size(), 0U);
}

TEST_F(ZookeeperDeskTest, ShowsAForeignHolderAsForeign) {
  const auto gone = alice_.acquire({});
  EXPECT_EQ(alice_.release(gone->lease), ReleaseOutcome::released);
  ask(Create{.path = "/hf/ledger/_c_11111111-2222-3333-4444-555555555555-lock-",
             .data = "127.0.0.1",
             .kind = Create::Kind::ephemeral_sequential});
  const LockInfo info = inspect();
  ASSERT_EQ(info.holders.size(), 1U);
  EXPECT_TRUE(info.holders[0].foreign);
  ASSERT_TRUE(break_lock());
  EXPECT_TRUE(contenders().empty());
}

TEST_F(ZookeeperDeskTest, ListsLocksByTheBeginningOfTheirNames) {
  for (const char* name : {"a", "a/b", "a/c", "b"}) {
    ASSERT_TRUE(alice_.acquire({.name = name})->lease);
  }
  ask(Create{.path = "/hf/settings", .data = "of another program"});
  EXPECT_EQ(list(""), (Names{"a", "a/b", "a/c", "b"}));
  EXPECT_EQ(list("a/"), (Names{"a/b", "a/c"}));
  EXPECT_EQ(list("c"), Names{});
}

TEST_F(ZookeeperDeskTest, WithoutAnyLockThereIsNothingToList) { EXPECT_EQ(list(""), Names{}); }

TEST_F(ZookeeperDeskTest, ListsMoreThanIsAskedAtOnce) {
  std::vector<std::shared_ptr<Locker::Outcome>> all;
  for (int i = 0; i < 1200; ++i) all.push_back(alice_.begin({.name = std::to_string(i)}));
  ASSERT_TRUE(run_until([&] { return all.back()->done(); }));
  EXPECT_EQ(list("").size(), 1200U);
}

TEST_F(ZookeeperDeskTest, ABrokenLeaseIsToldToItsHolderAndPassesOn) {
  const auto taken = alice_.acquire({});
  const auto waiting = bob_.begin({.wait = 1min});
  advance(2s);
  const auto report = break_lock();
  ASSERT_TRUE(report);
  ASSERT_EQ(report->holders.size(), 1U);
  EXPECT_EQ(report->holders[0].token, taken->lease->held().token);
  ASSERT_TRUE(run_until([&] { return alice_.state(taken->lease) == LeaseState::lost; }, 1s));
  EXPECT_EQ(alice_.reason(taken->lease), LossReason::broken);
  EXPECT_TRUE(run_until([&] { return waiting->lease != nullptr; }, 1s));
}

TEST_F(ZookeeperDeskTest, BreakingLeavesARecord) {
  ASSERT_TRUE(alice_.acquire({})->lease);
  ASSERT_TRUE(break_lock());
  const Answer records = ask(List{.path = "/hf/%broken"});
  ASSERT_EQ(records.children.size(), 1U);
  const Answer record = ask(Read{.path = "/hf/%broken/" + records.children[0]});
  EXPECT_NE(record.data.find("stuck"), std::string::npos);
  EXPECT_EQ(list(""), Names{}) << "a record is no lock";
}

TEST_F(ZookeeperDeskTest, AllWhoShareALockAreBroken) {
  constexpr core::Claim kShared{.mode = Mode::shared};
  std::vector<std::shared_ptr<Locker::Outcome>> all;
  for (int i = 0; i < 120; ++i) all.push_back(alice_.begin({.claim = kShared}));
  ASSERT_TRUE(run_until([&] { return all.back()->done(); }));
  advance(2s);
  const auto report = break_lock();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->holders.size(), 120U);
  EXPECT_TRUE(contenders().empty());
}

TEST_F(ZookeeperDeskTest, BreakingAFreeLockIsNotFound) {
  EXPECT_EQ(break_lock().error().code, Errc::not_found);
}

TEST_F(ZookeeperDeskTest, ADetachedLeaseEndsByItself) {
  const auto lease = detached(2s);
  EXPECT_EQ(lease.ttl, 2s);
  EXPECT_EQ(contenders().size(), 1U);
  const auto next = bob_.acquire({.wait = 1min});
  ASSERT_TRUE(next->lease);
  EXPECT_GE(alice_.process.env.now(), lease.grant.valid_until);
  EXPECT_EQ(extend(lease.lease.owner, 2s).error().code, Errc::lost);
  EXPECT_EQ(*release(lease.lease.owner), ReleaseOutcome::already_lost);
}

TEST_F(ZookeeperDeskTest, ADetachedLeaseIsExtendedByItsOwner) {
  const auto lease = detached(2s);
  const auto left = extend(lease.lease.owner, 8s);
  ASSERT_TRUE(left);
  EXPECT_GT(*left, 7s);
  EXPECT_LE(*left, 8s);
  advance(6s);
  EXPECT_EQ(contenders().size(), 1U);
  EXPECT_TRUE(run_until([&] { return contenders().empty(); }, 10s)) << "and ends after that";
}

TEST_F(ZookeeperDeskTest, ExtendingForLessNeverShortens) {
  const auto lease = detached(2s);
  ASSERT_TRUE(extend(lease.lease.owner, 9s));
  const auto left = extend(lease.lease.owner, 100ms);
  ASSERT_TRUE(left);
  EXPECT_GT(*left, 8s);
  EXPECT_EQ(inspect().holders.at(0).ttl, 9s);
}

TEST_F(ZookeeperDeskTest, ADetachedLeaseLastsItsTtlFromWhenItWasGranted) {
  const auto first = alice_.acquire({.ttl = 10s});
  const auto waiting = bob_.begin({.ttl = 4s, .wait = 1h, .kind = LeaseKind::detached});
  advance(11s);
  EXPECT_EQ(alice_.release(first->lease), ReleaseOutcome::released);
  ASSERT_TRUE(run_until([&] { return waiting->done(); }, 5s));
  ASSERT_TRUE(waiting->detached);
  EXPECT_GT(waiting->detached->grant.valid_until, bob_.process.env.now() + 3s);
  EXPECT_TRUE(run_until([&] { return contenders().empty(); }, 10s)) << "nobody keeps it alive";
  EXPECT_GE(bob_.process.env.now(), waiting->detached->grant.valid_until);
}

TEST_F(ZookeeperDeskTest, ADetachedLeaseIsReleasedByItsOwnerWithItsSession) {
  const auto lease = detached(10s);
  const SessionId session = stat_of(contenders().at(0)).owner;
  EXPECT_EQ(*release(lease.lease.owner), ReleaseOutcome::released);
  EXPECT_TRUE(contenders().empty());
  EXPECT_TRUE(run_until([&] { return !bed_.ensemble.has_session(session); }, 2s));
  EXPECT_EQ(*release(lease.lease.owner), ReleaseOutcome::already_lost);
}

TEST_F(ZookeeperDeskTest, AnotherOwnerChangesNothing) {
  const auto lease = detached(10s);
  const Owner stranger = bob_.process.env.fresh_owner();
  EXPECT_EQ(extend(stranger, 1s).error().code, Errc::lost);
  EXPECT_EQ(*release(stranger), ReleaseOutcome::already_lost);
  EXPECT_EQ(contenders().size(), 1U);
}

TEST_F(ZookeeperDeskTest, TheLeaseOfARunningProcessIsNotExtendedFromOutside) {
  const auto taken = alice_.acquire({});
  const auto refused = extend(taken->lease->held().owner, 5s);
  EXPECT_EQ(refused.error().code, Errc::unsupported);
  advance(1min);
  EXPECT_EQ(alice_.state(taken->lease), LeaseState::held);
}

TEST_F(ZookeeperDeskTest, WithoutAnAnswerItSaysSoInTime) {
  bed_.cut_off(bob_.process);
  const TimePoint before = bed_.scheduler.now();
  const auto info = bob_.wait_for(bob_.desk->inspect(LockName{"ledger"}, bob_.soon()));
  ASSERT_FALSE(info);
  EXPECT_EQ(info.error().code, Errc::unavailable);
  EXPECT_LE(bed_.scheduler.now() - before, 3s);
}

TEST_F(ZookeeperDeskTest, BareNamesArePaths) {
  const Settings bare{.prefix = ""};
  Locker carol{bed_, bare};
  ASSERT_TRUE(carol.acquire({.name = "top"})->lease);
  ASSERT_TRUE(carol.acquire({.name = "app/locks/x"})->lease);
  EXPECT_EQ(ask(List{.path = "/app/locks/x"}).children.size(), 1U);
  EXPECT_EQ(carol.acquire({.name = "a//b"})->error->code, Errc::invalid_argument);
  const auto all = carol.wait_for(carol.desk->list("", carol.soon()));
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 1U) << "only those at the root are found";
  EXPECT_EQ(all->front().name, "top");
}

TEST_F(ZookeeperDeskTest, WhoListensHearsOfContendersThatComeAndGo) {
  int heard = 0;
  auto ear = bob_.desk->listen(LockName{"ledger"}, [&] { ++heard; });
  ASSERT_TRUE(ear);
  advance(1s);
  EXPECT_GT(heard, 0) << "it has begun to hear";
  heard = 0;
  const auto taken = alice_.acquire({.ttl = 8s});
  advance(100ms);
  EXPECT_GT(std::exchange(heard, 0), 0) << "one came";
  ASSERT_EQ(alice_.release(taken->lease), ReleaseOutcome::released);
  advance(100ms);
  EXPECT_GT(std::exchange(heard, 0), 0) << "and left";
  ear.reset();
  ASSERT_TRUE(alice_.acquire({})->lease);
  advance(100ms);
  EXPECT_EQ(heard, 0) << "nobody listens any more";
}

}  // namespace
}  // namespace holdfast::zookeeper::testing
