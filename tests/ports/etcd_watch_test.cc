// The contract of EtcdPort: watches.

#include <gmock/gmock.h>

#include "tests/ports/etcd_bed.h"

namespace holdfast::ports {
namespace {

using namespace etcd;
using Kind = WatchNews::Kind;

TEST_P(EtcdPortTest, TellsChangesInOrder) {
  const Revision before = put("other", "1");
  EtcdEar ear;
  watch(ear, {.keys = {key("a")}});
  const WatchNews watching = next(ear);
  EXPECT_EQ(watching.kind, Kind::watching);
  EXPECT_GE(watching.header.revision, before);
  put("a", "1");
  put("other", "2");
  const Revision second = put("a", "2");
  const Revision erased = erase("a");
  EXPECT_EQ(next_change(ear), "put a=1");
  const WatchNews news = next(ear);
  ASSERT_EQ(news.changes.size(), 1U);
  EXPECT_EQ(shown(news.changes[0]), "put a=2");
  EXPECT_EQ(news.changes[0].entry.modified, second);
  EXPECT_EQ(news.changes[0].entry.version, 2);
  EXPECT_GE(news.header.revision, second);
  const WatchNews last = next(ear);
  ASSERT_EQ(last.changes.size(), 1U);
  EXPECT_EQ(shown(last.changes[0]), "erased a");
  EXPECT_EQ(last.changes[0].entry.modified, erased);
}

TEST_P(EtcdPortTest, WatchesARange) {
  EtcdEar ear;
  watch(ear, {.keys = starting_with(key("a/"))});
  EXPECT_EQ(next(ear).kind, Kind::watching);
  put("a/1", "1");
  put("a", "not");
  put("a0", "not");
  put("a/2", "2");
  EXPECT_EQ(next_change(ear), "put a/1=1");
  EXPECT_EQ(next_change(ear), "put a/2=2");
}

TEST_P(EtcdPortTest, TellsWhatATransactionDidAtOnce) {
  EtcdEar ear;
  watch(ear, {.keys = all_keys()});
  EXPECT_EQ(next(ear).kind, Kind::watching);
  run({.then = {Put{key("a"), "1"}, Put{key("b"), "2"}}});
  const WatchNews news = next(ear);
  ASSERT_EQ(news.changes.size(), 2U);
  EXPECT_EQ(shown(news.changes[0]), "put a=1");
  EXPECT_EQ(shown(news.changes[1]), "put b=2");
  EXPECT_EQ(news.changes[0].entry.modified, news.changes[1].entry.modified);
}

TEST_P(EtcdPortTest, BeginsAtAnOldChange) {
  put("a", "1");
  const Revision from = put("a", "2");
  put("a", "3");
  EtcdEar ear;
  watch(ear, {.keys = {key("a")}, .from = from});
  EXPECT_EQ(next(ear).kind, Kind::watching);
  std::vector<std::string> told;
  while (told.size() < 2) {
    const WatchNews news = next(ear);
    ASSERT_FALSE(news.changes.empty());
    for (const Change& change : news.changes) told.push_back(shown(change));
  }
  EXPECT_THAT(told, testing::ElementsAre("put a=2", "put a=3"));
}

TEST_P(EtcdPortTest, BeginsAtAChangeToCome) {
  const Revision now = put("a", "1");
  EtcdEar ear;
  watch(ear, {.keys = {key("a")}, .from = now + 2});
  EXPECT_EQ(next(ear).kind, Kind::watching);
  put("a", "2");
  put("a", "3");
  EXPECT_EQ(next_change(ear), "put a=3");
}

TEST_P(EtcdPortTest, TellsErasuresAlone) {
  EtcdEar ear;
  watch(ear, {.keys = all_keys(), .only = Watch::Only::erasures});
  EXPECT_EQ(next(ear).kind, Kind::watching);
  put("a", "1");
  put("b", "1");
  erase("b");
  erase("a");
  EXPECT_EQ(next_change(ear), "erased b");
  EXPECT_EQ(next_change(ear), "erased a");
}

TEST_P(EtcdPortTest, TellsWhenALeaseTookAKeyAlong) {
  const LeaseId revoked = fresh_lease();
  const LeaseId run_out = fresh_lease();
  grant(revoked, Seconds{60});
  grant(run_out, Seconds{2});
  put("revoked", "1", revoked);
  put("run out", "1", run_out);
  EtcdEar ear;
  watch(ear, {.keys = all_keys(), .only = Watch::Only::erasures});
  EXPECT_EQ(next(ear).kind, Kind::watching);
  revoke(revoked);
  EXPECT_EQ(next_change(ear), "erased revoked");
  EXPECT_EQ(next_change(ear), "erased run out");
}

TEST_P(EtcdPortTest, TellsEveryWatchOfAKey) {
  EtcdEar one;
  EtcdEar other;
  const WatchId first = watch(one, {.keys = {key("a")}});
  const WatchId second = watch(other, {.keys = {key("a")}});
  EXPECT_NE(first, second);
  EXPECT_NE(first, WatchId{});
  EXPECT_EQ(next(one).kind, Kind::watching);
  EXPECT_EQ(next(other).kind, Kind::watching);
  put("a", "1");
  EXPECT_EQ(next_change(one), "put a=1");
  EXPECT_EQ(next_change(other), "put a=1");
}

TEST_P(EtcdPortTest, TellsNothingAfterUnwatch) {
  EtcdEar ended;
  EtcdEar ear;
  const WatchId id = watch(ended, {.keys = {key("a")}});
  watch(ear, {.keys = {key("a")}});
  EXPECT_EQ(next(ended).kind, Kind::watching);
  EXPECT_EQ(next(ear).kind, Kind::watching);
  bed_->on_env([&] { bed_->port().unwatch(id); });
  put("a", "1");
  EXPECT_EQ(next_change(ear), "put a=1");
  bed_->on_env([&] { EXPECT_TRUE(ended.news().empty()); });
}

TEST_P(EtcdPortTest, UnwatchesBeforeItWatches) {
  EtcdEar ended;
  EtcdEar ear;
  bed_->on_env([&] {
    const WatchId id = bed_->port().watch({.keys = {key("a")}}, ended.on_watch());
    bed_->port().unwatch(id);
    bed_->port().unwatch(id);
  });
  watch(ear, {.keys = {key("a")}});
  EXPECT_EQ(next(ear).kind, Kind::watching);
  put("a", "1");
  EXPECT_EQ(next_change(ear), "put a=1");
  bed_->on_env([&] { EXPECT_TRUE(ended.news().empty()); });
}

TEST_P(EtcdPortTest, SaysWhatItCannotCatchUpAndGoesOn) {
  const Revision old = put("a", "1");
  put("a", "2");
  const Revision compacted = put("a", "3");
  bed_->compact(compacted);
  EtcdEar ear;
  watch(ear, {.keys = {key("a")}, .from = old});
  WatchNews news = next(ear);
  // The server accepts it, and looks afterwards.
  if (news.kind == Kind::watching) news = next(ear);
  EXPECT_EQ(news.kind, Kind::compacted);
  EXPECT_GE(news.header.revision, compacted);
  EXPECT_EQ(next(ear).kind, Kind::watching);
  put("a", "4");
  // The last change that is still known may be told as well.
  std::vector<std::string> told;
  while (told.empty() || told.back() == "put a=3") {
    const WatchNews more = next(ear);
    ASSERT_FALSE(more.changes.empty());
    for (const Change& change : more.changes) told.push_back(shown(change));
  }
  EXPECT_EQ(told.back(), "put a=4");
}

TEST_P(EtcdPortTest, GoesOnFromWhereTheHistoryWasCompacted) {
  put("a", "1");
  const Revision erased = erase("a");
  bed_->compact(erased);
  EtcdEar ear;
  watch(ear, {.keys = {key("a")}, .from = erased});
  EXPECT_EQ(next(ear).kind, Kind::watching);
  put("a", "2");
  // Once the server has cleaned up, it says nothing of the erasure: who waits must look again.
  std::string last;
  while (last != "put a=2") {
    const WatchNews news = next(ear);
    ASSERT_EQ(news.kind, Kind::changes);
    for (const Change& change : news.changes) last = shown(change);
  }
}

TEST_P(EtcdPortTest, WatchesManyKeys) {
  constexpr std::size_t kWatches = 200;
  std::vector<EtcdEar> ears(kWatches);
  for (std::size_t i = 0; i < kWatches; ++i) watch(ears[i], {.keys = {key(std::to_string(i))}});
  for (EtcdEar& ear : ears) EXPECT_EQ(next(ear).kind, Kind::watching);
  put("7", "1");
  put("199", "1");
  EXPECT_EQ(next_change(ears[199]), "put 199=1");
  EXPECT_EQ(next_change(ears[7]), "put 7=1");
  bed_->on_env([&] { EXPECT_TRUE(ears[8].news().empty()); });
}

}  // namespace
}  // namespace holdfast::ports
