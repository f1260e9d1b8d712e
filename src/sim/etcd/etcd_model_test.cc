#include "sim/etcd/etcd_model.h"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::sim {
namespace {

using namespace etcd;
using namespace std::chrono_literals;

Txn put(const std::string& key, const std::string& value, LeaseId lease = {}) {
  return {.then = {Put{.key = key, .value = value, .lease = lease}}};
}

Txn look(Range range) { return {.then = {std::move(range)}}; }

class EtcdModelTest : public testing::Test {
 protected:
  TxnAnswer commit(const Txn& txn) {
    const auto answer = model_.commit(txn);
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? *answer : TxnAnswer{};
  }

  std::vector<std::string> keys_of(Range range) {
    std::vector<std::string> keys;
    const TxnAnswer answer = commit(look(std::move(range)));
    for (const KeyValue& entry : answer.answers.at(0).found) keys.push_back(entry.key);
    return keys;
  }

  bool holds(Compare compare) { return commit({.when = {std::move(compare)}}).held; }

  EtcdModel model_;
};

TEST_F(EtcdModelTest, CountsOneRevisionPerTransactionThatWrites) {
  EXPECT_EQ(commit(look({.keys = {.key = "a"}})).header.revision, 1);
  EXPECT_EQ(commit({.then = {Put{.key = "a"}, Put{.key = "b"}}}).header.revision, 2);
  EXPECT_EQ(commit({.then = {Erase{.keys = {.key = "none"}}}}).header.revision, 2);
  EXPECT_EQ(commit(put("a", "2")).header.revision, 3);
  const KeyValue* a = model_.keys().find("a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->created, 2);
  EXPECT_EQ(a->modified, 3);
  EXPECT_EQ(a->version, 2);
}

TEST_F(EtcdModelTest, AKeyThatWasErasedBeginsAnew) {
  commit(put("a", "1"));
  EXPECT_EQ(commit({.then = {Erase{.keys = {.key = "a"}}}}).answers.at(0).count, 1);
  commit(put("a", "2"));
  EXPECT_EQ(model_.keys().find("a")->created, 4);
  EXPECT_EQ(model_.keys().find("a")->version, 1);
}

TEST_F(EtcdModelTest, ARangeSeesWhatItsTransactionWrote) {
  const auto answer =
      commit({.then = {Put{.key = "l/a"}, Range{.keys = starting_with("l/")}, Put{.key = "l/b"}}});
  ASSERT_EQ(answer.answers.at(1).found.size(), 1U);
  EXPECT_EQ(answer.answers.at(1).found.at(0).created, 2);
}

TEST_F(EtcdModelTest, OrdersAndLimits) {
  for (const char* key : {"l/c", "l/a", "l/b", "m"}) commit(put(key, "v"));
  using Keys = std::vector<std::string>;
  const KeyRange all = starting_with("l/");
  EXPECT_EQ(keys_of({.keys = all}), (Keys{"l/a", "l/b", "l/c"}));
  EXPECT_EQ(keys_of({.keys = all, .order = Range::Order::oldest_first, .limit = 1}), Keys{"l/c"});
  EXPECT_EQ(keys_of({.keys = all, .order = Range::Order::newest_first, .limit = 1}), Keys{"l/b"});
  EXPECT_EQ(keys_of({.keys = all, .order = Range::Order::newest_first, .created_by = 3}),
            (Keys{"l/a", "l/c"}));
  const auto counted =
      commit(look({.keys = all, .part = Range::Part::count_only, .limit = 1})).answers.at(0);
  EXPECT_EQ(counted.count, 3);
  EXPECT_TRUE(counted.found.empty());
  const auto bare = commit(look({.keys = all, .part = Range::Part::keys_only})).answers.at(0);
  EXPECT_EQ(bare.found.at(0).value, "");
}

TEST_F(EtcdModelTest, ComparesAKeyThatIsNotThereAsZero) {
  using enum Compare::What;
  using enum Compare::Is;
  EXPECT_TRUE(holds({.key = "k", .what = created, .is = equal, .number = 0}));
  EXPECT_TRUE(holds({.key = "k", .what = version, .is = less, .number = 1}));
  EXPECT_FALSE(holds({.key = "k", .what = value, .is = equal, .value = ""}));
  EXPECT_FALSE(holds({.key = "k", .what = value, .is = not_equal, .value = "v"}));
  commit(put("k", "v"));
  EXPECT_TRUE(holds({.key = "k", .what = value, .is = greater, .value = "u"}));
  EXPECT_TRUE(holds({.key = "k", .what = modified, .is = equal, .number = 2}));
}

TEST_F(EtcdModelTest, RefusesATransactionThatWritesAKeyTwice) {
  const auto twice = model_.commit({.then = {Put{.key = "a"}, Put{.key = "a"}}});
  EXPECT_EQ(twice.error().code, Errc::invalid_argument);
  const auto both = model_.commit({.then = {Put{.key = "a"}, Erase{.keys = starting_with("a")}}});
  EXPECT_EQ(both.error().code, Errc::invalid_argument);
  EXPECT_EQ(model_.keys().revision(), 1);
}

TEST_F(EtcdModelTest, ALeaseTakesItsKeysWithItInOneRevision) {
  const LeaseId lease{7};
  EXPECT_EQ(model_.grant(lease, 10s, 0s)->ttl, 10s);
  commit(put("a", "1", lease));
  commit(put("b", "1", lease));
  commit(put("c", "1", lease));
  commit(put("c", "2"));
  model_.expire(9s);
  EXPECT_NE(model_.keys().find("a"), nullptr);
  model_.expire(10s);
  EXPECT_EQ(model_.keys().find("a"), nullptr);
  EXPECT_EQ(model_.keys().find("b"), nullptr);
  EXPECT_NE(model_.keys().find("c"), nullptr) << "the last Put took it from the lease";
  EXPECT_EQ(model_.keys().revision(), 6);
}

TEST_F(EtcdModelTest, WritesNothingForALeaseThatIsGone) {
  const auto answer = model_.commit({.then = {Put{.key = "a"}, Put{.key = "b", .lease = {7}}}});
  EXPECT_EQ(answer.error().code, Errc::lost);
  EXPECT_EQ(model_.keys().find("a"), nullptr);
}

TEST_F(EtcdModelTest, LeasesAreRaisedRenewedAndGone) {
  const LeaseId lease{7};
  EXPECT_EQ(model_.grant(lease, 1s, 0s)->ttl, 2s);
  EXPECT_EQ(model_.grant(lease, 5s, 0s)->ttl, 0s) << "it is there already";
  EXPECT_EQ(model_.keep_alive(lease, 1900ms)->ttl, 2s);
  EXPECT_EQ(model_.look_up(lease, 2s)->ttl, 1s);
  EXPECT_EQ(model_.look_up(lease, 3800ms)->ttl, 1s) << "it is there still";
  EXPECT_EQ(model_.keep_alive(lease, 3900ms)->ttl, 0s);
  EXPECT_EQ(model_.revoke(lease)->ttl, 0s);
}

TEST_F(EtcdModelTest, LeasesBeginAnewUnderAnotherLeader) {
  const LeaseId lease{7};
  ASSERT_TRUE(model_.grant(lease, 10s, 0s));
  model_.promote(100s, 1s);
  EXPECT_EQ(model_.next_end(), Duration{111s});
}

class EtcdWatchTest : public EtcdModelTest {
 protected:
  EtcdModel::Begun watch(Watch watch) {
    return model_.watch(std::move(watch), [this](Revision, const std::vector<Change>& changes) {
      told_.insert(told_.end(), changes.begin(), changes.end());
    });
  }

  std::vector<Change> told_;
};

TEST_F(EtcdWatchTest, TellsWhatHappensFromNowOn) {
  commit(put("a", "1"));
  EXPECT_TRUE(watch({.keys = {.key = "a"}}).past.empty());
  commit(put("b", "1"));
  commit({.then = {Erase{.keys = {.key = "a"}}}});
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_EQ(told_[0].kind, Change::Kind::erased);
  EXPECT_EQ(told_[0].entry.key, "a");
  EXPECT_EQ(told_[0].entry.modified, 4);
}

TEST_F(EtcdWatchTest, TellsWhatHappenedBefore) {
  commit(put("a", "1"));
  commit(put("a", "2"));
  const auto begun = watch({.keys = {.key = "a"}, .from = 3});
  ASSERT_EQ(begun.past.size(), 1U);
  EXPECT_EQ(begun.past[0].entry.value, "2");
}

TEST_F(EtcdWatchTest, TellsErasuresOnly) {
  watch({.keys = starting_with("a"), .only = Watch::Only::erasures});
  commit(put("a", "1"));
  EXPECT_TRUE(told_.empty());
  commit({.then = {Erase{.keys = {.key = "a"}}}});
  EXPECT_EQ(told_.size(), 1U);
}

TEST_F(EtcdWatchTest, DoesNotKnowWhatWasCompacted) {
  commit(put("a", "1"));
  commit(put("a", "2"));
  model_.compact(model_.keys().revision());
  EXPECT_TRUE(watch({.keys = {.key = "a"}, .from = 2}).compacted);
  const auto begun = watch({.keys = {.key = "a"}, .from = 3});
  EXPECT_FALSE(begun.compacted);
  EXPECT_EQ(begun.past.size(), 1U);
}

TEST_F(EtcdWatchTest, MissesAnErasureThatWasCompactedLast) {
  commit(put("a", "1"));
  commit({.then = {Erase{.keys = {.key = "a"}}}});
  model_.compact(model_.keys().revision());
  const auto begun = watch({.keys = {.key = "a"}, .from = 3});
  EXPECT_FALSE(begun.compacted);
  EXPECT_TRUE(begun.past.empty());
}

}  // namespace
}  // namespace holdfast::sim
