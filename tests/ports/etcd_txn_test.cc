// The contract of EtcdPort: transactions and revisions.

#include <gmock/gmock.h>

#include "tests/ports/etcd_bed.h"

namespace holdfast::ports {
namespace {

using namespace etcd;
using testing::ElementsAre;

using What = Compare::What;
using Is = Compare::Is;

TEST_P(EtcdPortTest, FindsInATransactionWhatItPut) {
  const TxnAnswer answer = run({.then = {Put{key("a"), "1"}, Range{.keys = {key("a")}}}});
  EXPECT_TRUE(answer.held);
  ASSERT_EQ(answer.answers.size(), 2U);
  ASSERT_EQ(answer.answers[1].found.size(), 1U);
  EXPECT_EQ(answer.answers[1].count, 1);
  const KeyValue& found = answer.answers[1].found[0];
  EXPECT_EQ(found.key, key("a"));
  EXPECT_EQ(found.value, "1");
  EXPECT_EQ(found.created, answer.header.revision);
  EXPECT_EQ(found.modified, answer.header.revision);
  EXPECT_EQ(found.version, 1);
  EXPECT_EQ(found.lease, LeaseId{});
}

TEST_P(EtcdPortTest, SaysWhoAnswered) {
  const Header first = run({.then = {Put{key("a"), "1"}}}).header;
  const Header second = run({.then = {Range{.keys = {key("a")}}}}).header;
  EXPECT_NE(first.cluster, 0U);
  EXPECT_NE(first.member, 0U);
  EXPECT_NE(first.term, 0U);
  EXPECT_EQ(first.cluster, second.cluster);
  EXPECT_EQ(first.revision, second.revision) << "reading changed something";
}

TEST_P(EtcdPortTest, KeepsTheCreationWhenAKeyIsWrittenAgain) {
  const Revision created = put("a", "1");
  const Revision modified = put("a", "2");
  EXPECT_GT(modified, created);
  const auto found = get("a");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->value, "2");
  EXPECT_EQ(found->created, created);
  EXPECT_EQ(found->modified, modified);
  EXPECT_EQ(found->version, 2);
}

TEST_P(EtcdPortTest, CreatesAnewWhatWasErased) {
  put("a", "1");
  put("a", "2");
  const TxnAnswer erased = run({.then = {Erase{{key("a")}}}});
  ASSERT_EQ(erased.answers.size(), 1U);
  EXPECT_EQ(erased.answers[0].count, 1);
  EXPECT_FALSE(get("a"));
  const Revision again = put("a", "3");
  EXPECT_GT(again, erased.header.revision);
  EXPECT_EQ(get("a")->created, again);
  EXPECT_EQ(get("a")->version, 1);
}

TEST_P(EtcdPortTest, ErasingNothingChangesNothing) {
  const Revision before = put("a", "1");
  const TxnAnswer erased = run({.then = {Erase{{key("b")}}}});
  EXPECT_EQ(erased.answers[0].count, 0);
  EXPECT_EQ(erased.header.revision, before);
}

TEST_P(EtcdPortTest, ErasesARange) {
  for (const char* name : {"a/1", "a/2", "b"}) put(name, "x");
  EXPECT_EQ(run({.then = {Erase{starting_with(key("a/"))}}}).answers[0].count, 2);
  EXPECT_THAT(names({.keys = all_keys()}), ElementsAre("b"));
}

TEST_P(EtcdPortTest, AllOfATransactionHasOneRevision) {
  const Revision revision = run({.then = {Put{key("a"), "1"}, Put{key("b"), "2"}}}).header.revision;
  EXPECT_EQ(get("a")->created, revision);
  EXPECT_EQ(get("b")->created, revision);
}

struct Comparison {
  What what;
  Is is;
  std::int64_t number;
  bool holds;
};

TEST_P(EtcdPortTest, ComparesWhatAKeyHas) {
  const LeaseId lease{1 << 20};
  ASSERT_GT(grant(lease, Seconds{60}).ttl, Seconds{0});
  const Revision created = put("a", "1", lease);
  const Revision modified = put("a", "2", lease);
  const std::pair<What, std::int64_t> facts[] = {{What::created, created},
                                                 {What::modified, modified},
                                                 {What::version, 2},
                                                 {What::lease, lease.number}};
  for (const auto& [what, fact] : facts) {
    const Comparison comparisons[] = {{what, Is::equal, fact, true},
                                      {what, Is::equal, fact + 1, false},
                                      {what, Is::not_equal, fact, false},
                                      {what, Is::not_equal, fact + 1, true},
                                      {what, Is::greater, fact - 1, true},
                                      {what, Is::greater, fact, false},
                                      {what, Is::less, fact + 1, true},
                                      {what, Is::less, fact, false}};
    for (const Comparison& c : comparisons) {
      const Compare compare{.key = key("a"), .what = c.what, .is = c.is, .number = c.number};
      EXPECT_EQ(run({.when = {compare}}).held, c.holds)
          << static_cast<int>(c.what) << ' ' << static_cast<int>(c.is) << ' ' << c.number;
    }
  }
  revoke(lease);
}

struct ValueComparison {
  Is is;
  const char* value;
  bool holds;
};

TEST_P(EtcdPortTest, ComparesValuesAsBytes) {
  put("a", "m\xff");
  const ValueComparison comparisons[] = {{Is::equal, "m\xff", true},
                                         {Is::equal, "m", false},
                                         {Is::not_equal, "m", true},
                                         {Is::not_equal, "m\xff", false},
                                         {Is::greater, "m", true},
                                         {Is::greater, "n", false},
                                         {Is::greater, "m\x01", true},
                                         {Is::less, "n", true},
                                         {Is::less, "m\xff", false},
                                         {Is::less, "m\xff!", true}};
  for (const ValueComparison& c : comparisons) {
    const Compare compare{.key = key("a"), .what = What::value, .is = c.is, .value = c.value};
    EXPECT_EQ(run({.when = {compare}}).held, c.holds) << static_cast<int>(c.is) << ' ' << c.value;
  }
}

TEST_P(EtcdPortTest, AKeyThatIsNotThereHasZeroesAndNoValue) {
  for (const What what : {What::created, What::modified, What::version, What::lease}) {
    EXPECT_TRUE(run({.when = {{.key = key("a"), .what = what, .is = Is::equal}}}).held);
    EXPECT_FALSE(run({.when = {{.key = key("a"), .what = what, .is = Is::greater}}}).held);
    EXPECT_TRUE(run({.when = {{.key = key("a"), .what = what, .is = Is::less, .number = 1}}}).held);
  }
  for (const Is is : {Is::equal, Is::not_equal, Is::less, Is::greater}) {
    EXPECT_FALSE(run({.when = {{.key = key("a"), .what = What::value, .is = is}}}).held);
  }
}

TEST_P(EtcdPortTest, RunsOtherwiseWhenOneComparisonFails) {
  put("a", "1");
  const Compare there{.key = key("a"), .what = What::version, .is = Is::equal, .number = 1};
  const Compare not_there{.key = key("a"), .what = What::created, .is = Is::equal};
  const TxnAnswer answer =
      run({.when = {there, not_there},
           .then = {Put{key("b"), "then"}},
           .otherwise = {Put{key("b"), "otherwise"}, Range{.keys = {key("a")}}}});
  EXPECT_FALSE(answer.held);
  ASSERT_EQ(answer.answers.size(), 2U);
  EXPECT_EQ(answer.answers[1].found[0].value, "1");
  EXPECT_EQ(get("b")->value, "otherwise");
}

TEST_P(EtcdPortTest, OrdersWhatARangeFinds) {
  const Revision first = put("c", "x");
  const Revision second = put("a", "x");
  put("b", "x");
  put("c", "y");
  EXPECT_THAT(names({.keys = all_keys()}), ElementsAre("a", "b", "c"));
  EXPECT_THAT(names({.keys = all_keys(), .order = Range::Order::oldest_first}),
              ElementsAre("c", "a", "b"));
  EXPECT_THAT(names({.keys = all_keys(), .order = Range::Order::newest_first}),
              ElementsAre("b", "a", "c"));
  EXPECT_THAT(
      names({.keys = all_keys(), .order = Range::Order::newest_first, .created_by = second}),
      ElementsAre("a", "c"));
  EXPECT_THAT(names({.keys = all_keys(), .created_by = first}), ElementsAre("c"));
}

TEST_P(EtcdPortTest, LimitsWhatARangeFindsAndCountsAll) {
  for (const char* name : {"b", "a", "c"}) put(name, "x");
  const TxnAnswer answer =
      run({.then = {Range{.keys = all_keys(), .order = Range::Order::oldest_first, .limit = 2}}});
  ASSERT_EQ(answer.answers[0].found.size(), 2U);
  EXPECT_EQ(answer.answers[0].found[0].key, key("b"));
  EXPECT_EQ(answer.answers[0].count, 3);
}

TEST_P(EtcdPortTest, FindsKeysOrCountsAlone) {
  const Revision created = put("a", "value");
  const TxnAnswer answer =
      run({.then = {Range{.keys = all_keys(), .part = Range::Part::keys_only},
                    Range{.keys = all_keys(), .part = Range::Part::count_only}}});
  ASSERT_EQ(answer.answers[0].found.size(), 1U);
  EXPECT_EQ(answer.answers[0].found[0].value, "");
  EXPECT_EQ(answer.answers[0].found[0].created, created);
  EXPECT_TRUE(answer.answers[1].found.empty());
  EXPECT_EQ(answer.answers[1].count, 1);
}

TEST_P(EtcdPortTest, ARangeEndsBeforeItsEnd) {
  for (const char* name : {"a", "b", "c"}) put(name, "x");
  EXPECT_THAT(names({.keys = {key("a"), key("c")}}), ElementsAre("a", "b"));
  EXPECT_THAT(names({.keys = {key("b")}}), ElementsAre("b"));
}

TEST_P(EtcdPortTest, KeepsBytesAsTheyAre) {
  const std::string bytes{"\0\xff\n%/", 5};
  put(bytes, bytes);
  EXPECT_EQ(get(bytes)->value, bytes);
}

TEST_P(EtcdPortTest, WritesNoKeyTwiceInATransaction) {
  const auto answer = commit({.then = {Put{key("a"), "1"}, Put{key("a"), "2"}}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Errc::invalid_argument) << answer.error().message;
  EXPECT_FALSE(get("a"));
}

TEST_P(EtcdPortTest, RunsAtMost128Operations) {
  Txn txn;
  for (int i = 0; i < 128; ++i) txn.then.push_back(Put{key(std::to_string(i)), "x"});
  EXPECT_TRUE(commit(txn));
  txn.then.push_back(Put{key("more"), "x"});
  const auto answer = commit(std::move(txn));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Errc::invalid_argument) << answer.error().message;
}

TEST_P(EtcdPortTest, RefusesWhatIsTooLarge) {
  EXPECT_TRUE(commit({.then = {Put{key("a"), std::string(1 << 20, 'x')}}}));
  for (const std::size_t size : {std::size_t{1800} << 10, std::size_t{8} << 20}) {
    const auto answer = commit({.then = {Put{key("a"), std::string(size, 'y')}}});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Errc::invalid_argument) << answer.error().message;
  }
  EXPECT_EQ(get("a")->value[0], 'x');
}

TEST_P(EtcdPortTest, FindsMoreThanARequestMayHold) {
  for (int i = 0; i < 6; ++i) put(std::to_string(i), std::string(1 << 20, 'x'));
  EXPECT_EQ(names({.keys = all_keys()}).size(), 6U);
  run({.then = {Erase{all_keys()}}});
}

}  // namespace
}  // namespace holdfast::ports
