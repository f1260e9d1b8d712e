#include "engines/etcd/etcd_desk.h"

#include "engines/etcd/etcd_testing.h"

namespace holdfast::etcd::testing {
namespace {

class EtcdDeskTest : public EtcdEngineTest {
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
  core::LeaseSession::Detached detached(Millis ttl, const std::string& name = "ledger") {
    const auto taken = alice_.acquire({.name = name, .ttl = ttl, .kind = LeaseKind::detached});
    EXPECT_TRUE(taken->detached);
    return *taken->detached;
  }
  Result<Duration> extend(const Owner& owner, Millis ttl) {
    return bob_.wait_for(bob_.desk->extend(LockName{"ledger"}, owner, ttl, bob_.soon()));
  }
  Result<ReleaseOutcome> release(const Owner& owner) {
    return bob_.wait_for(bob_.desk->release(LockName{"ledger"}, owner, bob_.soon()));
  }
};

using Names = std::vector<std::string>;

TEST_F(EtcdDeskTest, ShowsWhoHoldsAndWhoWaitsAndForHowLong) {
  const auto taken = alice_.acquire({.ttl = 20s});
  const auto waiting = bob_.begin({.wait = 1min, .claim = {.mode = Mode::shared}});
  advance(1s);
  const LockInfo info = inspect();
  ASSERT_EQ(info.holders.size(), 1U);
  EXPECT_EQ(info.holders[0].owner_fp, taken->lease->held().owner.fingerprint());
  EXPECT_EQ(info.holders[0].token, taken->lease->held().token);
  EXPECT_GT(info.holders[0].ttl, 10s);
  EXPECT_LE(info.holders[0].ttl, 20s);
  EXPECT_FALSE(info.holders[0].foreign);
  ASSERT_EQ(info.waiters.size(), 1U);
  EXPECT_EQ(info.waiters[0].mode, Mode::shared);
  EXPECT_EQ(inspect("nobody").holders.size(), 0U);
}

TEST_F(EtcdDeskTest, ShowsAForeignHolderAsForeign) {
  put("hf/ledger/694d71ddacfda227");
  const LockInfo info = inspect();
  ASSERT_EQ(info.holders.size(), 1U);
  EXPECT_TRUE(info.holders[0].foreign);
}

TEST_F(EtcdDeskTest, ListsLocksByTheBeginningOfTheirNames) {
  for (const char* name : {"a", "a/b", "a/c", "b"}) {
    ASSERT_TRUE(alice_.acquire({.name = name})->lease);
  }
  put("hf/settings");
  EXPECT_EQ(list(""), (Names{"a", "a/b", "a/c", "b"}));
  EXPECT_EQ(list("a/"), (Names{"a/b", "a/c"}));
  EXPECT_EQ(list("c"), Names{});
}

TEST_F(EtcdDeskTest, ListsMoreThanAPage) {
  std::vector<std::shared_ptr<Locker::Outcome>> all;
  for (int i = 0; i < 1500; ++i) all.push_back(alice_.begin({.name = std::to_string(i)}));
  ASSERT_TRUE(run_until([&] { return all.back()->done(); }));
  EXPECT_EQ(list("").size(), 1500U);
}

TEST_F(EtcdDeskTest, BareNamesAreFoundAmongEverythingElse) {
  const Settings bare{.prefix = ""};
  Locker carol{bed_, bare};
  for (const char* name : {"a", "a/b", "z"}) ASSERT_TRUE(carol.acquire({.name = name})->lease);
  put("a/settings");
  put("a/1f");
  put("config", std::string(100'000, 'x'));
  const auto found = carol.wait_for(carol.desk->list("", carol.soon()));
  ASSERT_TRUE(found) << found.error().message;
  std::vector<std::string> names;
  for (const LockInfo& info : *found) names.push_back(info.name);
  EXPECT_EQ(names, (Names{"a", "a/b", "z"}));
}

TEST_F(EtcdDeskTest, BreaksAllHoldersAndLeavesARecord) {
  const core::Claim shared{.mode = Mode::shared};
  const auto one = alice_.acquire({.claim = shared});
  ASSERT_TRUE(bob_.acquire({.claim = shared})->lease);
  const auto report = bob_.wait_for(bob_.desk->break_lock(LockName{"ledger"}, "why", bob_.soon()));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->holders.size(), 2U);
  EXPECT_TRUE(contenders().empty());
  const std::string record =
      Keys{"hf/"}.broken(LockName{"ledger"}, one->lease->held().owner.fingerprint());
  const auto* kept = bed_.cluster.keys().find(record);
  ASSERT_NE(kept, nullptr);
  EXPECT_NE(kept->value.find("why"), std::string::npos);
  const auto nobody = bob_.wait_for(bob_.desk->break_lock(LockName{"ledger"}, "", bob_.soon()));
  EXPECT_EQ(nobody.error().code, Errc::not_found);
}

TEST_F(EtcdDeskTest, ADetachedLeaseLivesByItsTtlAlone) {
  const auto lease = detached(4s);
  EXPECT_EQ(lease.ttl, Millis{4s});
  const int before = alice_.port->keep_alives;
  const auto next = bob_.begin({.wait = 1min});
  ASSERT_TRUE(run_until([&] { return next->done(); }, 20s));
  EXPECT_TRUE(next->lease);
  EXPECT_EQ(alice_.port->keep_alives, before);
  EXPECT_GE(alice_.process.env.now(), lease.grant.valid_until);
  EXPECT_EQ(extend(lease.lease.owner, 1s).error().code, Errc::lost);
  EXPECT_EQ(*release(lease.lease.owner), ReleaseOutcome::already_lost);
}

TEST_F(EtcdDeskTest, ADetachedLeaseIsReleasedByItsOwner) {
  const auto lease = detached(1min);
  EXPECT_EQ(*release(lease.lease.owner), ReleaseOutcome::released);
  EXPECT_TRUE(contenders().empty());
  EXPECT_EQ(*release(lease.lease.owner), ReleaseOutcome::already_lost);
}

TEST_F(EtcdDeskTest, ADetachedLeaseIsLengthenedAndNeverShortened) {
  const auto lease = detached(4s);
  const auto longer = extend(lease.lease.owner, 1min);
  ASSERT_TRUE(longer) << longer.error().message;
  EXPECT_GT(*longer, 50s);
  EXPECT_LE(*longer, 1min);
  ASSERT_TRUE(extend(lease.lease.owner, 1s));
  advance(30s);
  EXPECT_EQ(inspect().holders.at(0).token, lease.grant.token);
  ASSERT_TRUE(run_until([&] { return contenders().empty(); }, 2min));
}

TEST_F(EtcdDeskTest, WhoHasWaitedForADetachedLeaseHasAllOfItsTtl) {
  const auto first = bob_.acquire({});
  const auto waiting = alice_.begin({.ttl = 10s, .wait = 1min, .kind = LeaseKind::detached});
  advance(23s);
  EXPECT_EQ(bob_.release(first->lease), ReleaseOutcome::released);
  ASSERT_TRUE(run_until([&] { return waiting->done(); }));
  ASSERT_TRUE(waiting->detached);
  EXPECT_GT(waiting->detached->grant.valid_until - alice_.process.env.now(), 9s);
}

TEST_F(EtcdDeskTest, ASessionsLeaseIsExtendedAsFarAsItsSession) {
  const auto taken = alice_.acquire({.ttl = 10s});
  const auto left = extend(taken->lease->held().owner, 1h);
  ASSERT_TRUE(left);
  EXPECT_LE(*left, 10s);
  advance(1min);
  EXPECT_EQ(alice_.state(taken->lease), LeaseState::held);
}

TEST_F(EtcdDeskTest, WhoOnlyWaitsHasNothingToExtend) {
  ASSERT_TRUE(alice_.acquire({})->lease);
  const auto waiting = alice_.begin({.wait = 1min, .kind = LeaseKind::detached});
  EXPECT_EQ(extend(bob_.process.env.fresh_owner(), 1s).error().code, Errc::lost);
}

TEST_F(EtcdDeskTest, WithoutAnAnswerALookChangedNothingAndAnActMayHave) {
  const auto lease = detached(1min);
  bed_.cut_off(bob_.process);
  const auto looked = bob_.wait_for(bob_.desk->inspect(LockName{"ledger"}, bob_.soon()));
  EXPECT_EQ(looked.error().code, Errc::unavailable);
  EXPECT_EQ(bob_.wait_for(bob_.desk->list("", bob_.soon())).error().code, Errc::unavailable);
}

TEST_F(EtcdDeskTest, WhoListensHearsOfContendersThatComeAndGo) {
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
}  // namespace holdfast::etcd::testing
