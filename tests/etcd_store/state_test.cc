// What the store does with what it remembers, with the holder's lock, with time and with a restore.

#include "tests/etcd_store/store_bed.h"

namespace holdfast::etcd_store {
namespace {

class StoreStateTest : public StoreBed {
 protected:
  /// A contender of the lock x, as the engine makes one. Its token.
  std::uint64_t take_lock() {
    const std::lock_guard lock{server_.mutex};
    etcd::Txn txn;
    txn.then.push_back(etcd::Put{.key = kContender});
    return static_cast<std::uint64_t>(server_.model.commit(txn)->header.revision);
  }

  void lose_lock() {
    const std::lock_guard lock{server_.mutex};
    etcd::Txn txn;
    txn.then.push_back(etcd::Erase{.keys = {kContender}});
    ASSERT_TRUE(server_.model.commit(txn));
  }

  static constexpr const char* kContender = "hf/x/1234-ab";
};

TEST_F(StoreStateTest, AChangeOfAKeyThatIsKnownIsOneTransaction) {
  ASSERT_TRUE(store().perform(put("a")));
  const int before = port_->sent();
  ASSERT_TRUE(store().perform(put("b")));
  ASSERT_TRUE(store().perform(erase()));
  EXPECT_EQ(port_->sent(), before + 2);
  ASSERT_TRUE(store().perform(open(5)));
  const int opened = port_->sent();
  for (std::uint64_t i = 1; i <= 3; ++i) ASSERT_TRUE(store().perform(write(5, i, "v")));
  EXPECT_EQ(port_->sent(), opened + 3);
}

TEST_F(StoreStateTest, WhatIsKnownMayBeOutOfDate) {
  ASSERT_TRUE(store().perform(put("a")));
  const auto theirs = other(put("theirs"));
  EXPECT_EQ(code_of(put("mine", Version{1})), Errc::version_conflict);
  ASSERT_TRUE(other(put("again")));
  EXPECT_TRUE(store().perform(put("mine")));
  EXPECT_EQ(stored(), "mine");
  ASSERT_TRUE(store().perform(open(5)));
  ASSERT_TRUE(other(open(6)));
  EXPECT_EQ(code_of(write(5, 1, "late")), Errc::stale_token);
}

TEST_F(StoreStateTest, AWriteIsRefusedOnceTheLockIsLost) {
  const std::uint64_t token = take_lock();
  ASSERT_TRUE(store().perform(open(token)));
  ASSERT_TRUE(store().perform(write(token, 1, "held")));
  lose_lock();
  EXPECT_EQ(code_of(write(token, 2, "late")), Errc::stale_token);
  // Nor by somebody who has not seen it held.
  const auto late = other(write(token, 2, "late"));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Errc::stale_token);
  EXPECT_EQ(stored(), "held");
}

TEST_F(StoreStateTest, AnotherContenderInItsPlaceIsNotTheHolder) {
  const std::uint64_t token = take_lock();
  ASSERT_TRUE(store().perform(open(token)));
  lose_lock();
  EXPECT_GT(take_lock(), token);
  EXPECT_EQ(code_of(write(token, 1, "late")), Errc::stale_token);
}

TEST_F(StoreStateTest, AWriteThatWasDoneBeforeTheLockWasLostIsDone) {
  const std::uint64_t token = take_lock();
  ASSERT_TRUE(store().perform(open(token)));
  port_->expect({{Fate::answer_lost, [&] { lose_lock(); }}});
  EXPECT_EQ(code_of(write(token, 1, "held")), Errc{});
  EXPECT_EQ(stored(), "held");
}

TEST_F(StoreStateTest, WhatIsKeptForATimeGoesByItself) {
  StoreRequest kept = write(5, 1, "a");
  std::get<WriteResource>(kept.operation).keep = Millis{1};
  ASSERT_TRUE(store().perform(kept));
  EXPECT_EQ(stored(), "a");
  {
    const std::lock_guard lock{server_.mutex};
    server_.model.expire(BootClock::now().time_since_epoch() + std::chrono::seconds{60});
  }
  EXPECT_FALSE(stored());
  // Its fence stays a while longer, and for good once a holder has seen that it is gone.
  EXPECT_EQ(code_of(open(4)), Errc::stale_token);
  ASSERT_TRUE(store().perform(read(5)));
  {
    const std::lock_guard lock{server_.mutex};
    server_.model.expire(BootClock::now().time_since_epoch() + std::chrono::hours{1});
  }
  EXPECT_EQ(code_of(open(4)), Errc::stale_token);
}

TEST_F(StoreStateTest, WhatIsLeftOfAnErasedKeyGoesByItself) {
  const auto first = store().perform(put("a"));
  ASSERT_TRUE(first);
  ASSERT_TRUE(store().perform(erase()));
  {
    const std::lock_guard lock{server_.mutex};
    EXPECT_NE(server_.model.keys().find("hf/\x01mark:value:k"), nullptr);
    server_.model.expire(BootClock::now().time_since_epoch() + std::chrono::hours{1});
    EXPECT_EQ(server_.model.keys().find("hf/\x01mark:value:k"), nullptr);
  }
  // Versions go on, though.
  EXPECT_GT(store().perform(put("b"))->version, first->version);
}

TEST_F(StoreStateTest, LeasesThatSomebodyEndedAreMadeAnew) {
  ASSERT_TRUE(store().perform(put("a")));
  ASSERT_TRUE(store().perform(erase()));
  {
    const std::lock_guard lock{server_.mutex};
    const auto leases = server_.model.state().leases;
    ASSERT_EQ(leases.size(), 1U);
    ASSERT_TRUE(server_.model.revoke(leases.begin()->first));
  }
  ASSERT_TRUE(store().perform(put("a")));
  EXPECT_TRUE(store().perform(erase())->changed);
}

// A backup that is restored takes back marks, values and revisions. What a process remembers does
// not fit any more, even where the revisions are the same again.
TEST_F(StoreStateTest, ARestoreIsNoticedByTheMark) {
  ASSERT_TRUE(store().perform(open(5)));
  sim::EtcdModel::State backup;
  {
    const std::lock_guard lock{server_.mutex};
    backup = server_.model.state();
  }
  ASSERT_TRUE(store().perform(write(5, 1, "lost in the restore")));
  {
    const std::lock_guard lock{server_.mutex};
    server_.model.restore(backup);
  }
  // As many revisions as before, and another content.
  ASSERT_TRUE(other(open(6)));
  EXPECT_EQ(code_of(write(5, 2, "late")), Errc::stale_token);
  EXPECT_FALSE(stored());
}

// A token that went back is locked out, never let in.
TEST_F(StoreStateTest, TokensOfARestoredClusterAreLockedOut) {
  ASSERT_TRUE(store().perform(open(500)));
  const std::uint64_t token = take_lock();
  ASSERT_LT(token, 500U);
  EXPECT_EQ(code_of(open(token)), Errc::stale_token);
}

TEST_F(StoreStateTest, WhatAnotherProgramWroteIsNotTakenForAMark) {
  {
    const std::lock_guard lock{server_.mutex};
    etcd::Txn txn;
    txn.then.push_back(etcd::Put{.key = "hf/\x01mark:value:k", .value = "hello"});
    ASSERT_TRUE(server_.model.commit(txn));
  }
  EXPECT_EQ(code_of(get()), Errc::corrupt);
  EXPECT_EQ(code_of(put("a")), Errc::corrupt);
}

}  // namespace
}  // namespace holdfast::etcd_store
