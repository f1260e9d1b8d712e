// What the store does with what it remembers, with the holder's lock and with time.

#include "tests/contract/patience.h"
#include "tests/zookeeper_store/store_bed.h"

namespace holdfast::zookeeper_store {
namespace {

class StoreStateTest : public StoreBed {
 protected:
  /// A contender of the lock x, as the engine makes one. Its holder.
  core::Holder take_lock() {
    serve(zookeeper::Create{.path = "/hf"});
    serve(zookeeper::Create{.path = "/hf/x", .kind = zookeeper::Create::Kind::container});
    const std::string name = "_c_01234567-89ab-cdef-0000-00000000000" + std::to_string(++taken_);
    const auto made = serve(zookeeper::Create{
        .path = "/hf/x/" + name + "-lock-", .kind = zookeeper::Create::Kind::ephemeral_sequential});
    contender_ = made.path;
    core::Holder found = holder(static_cast<std::uint64_t>(made.stat.created));
    found.owner_fp = "0123456789abcdef";
    return found;
  }
  void lose_lock() {
    ASSERT_EQ(serve(zookeeper::Erase{.path = contender_}).verdict, zookeeper::Verdict::done);
  }

  static StoreRequest open_as(const core::Holder& holder) {
    return {.key = "k", .operation = OpenResource{.holder = holder}};
  }
  static StoreRequest write_as(const core::Holder& holder,
                               std::uint64_t sequence,
                               std::string value) {
    return {.key = "k",
            .operation =
                WriteResource{.holder = holder, .sequence = sequence, .value = std::move(value)}};
  }

  void pass(Millis time) {
    const std::lock_guard lock{server_.mutex};
    server_.time += time;
  }
  /// With a clock that has not been read yet.
  void read_the_clock_anew() {
    store_ = make_store(*env_, port_);
    other_ = make_store(*others_env_, std::make_shared<FaultyPort>(*others_env_, server_));
  }
  bool is_there(const std::string& path) {
    return serve(zookeeper::Exists{.path = path}).verdict == zookeeper::Verdict::done;
  }

  int taken_{0};
  std::string contender_;
};

TEST_F(StoreStateTest, AChangeOfAKeyThatIsKnownIsOneTransaction) {
  ASSERT_TRUE(store().perform(put("a")));
  const int before = port_->sent();
  ASSERT_TRUE(store().perform(put("b")));
  ASSERT_TRUE(store().perform(put("c")));
  EXPECT_EQ(port_->sent(), before + 2);
  ASSERT_TRUE(store().perform(erase()));
  ASSERT_TRUE(store().perform(open(5)));
  const int opened = port_->sent();
  for (std::uint64_t i = 1; i <= 3; ++i) ASSERT_TRUE(store().perform(write(5, i, "v")));
  EXPECT_EQ(port_->sent(), opened + 3);
}

TEST_F(StoreStateTest, WhatIsKnownMayBeOutOfDate) {
  ASSERT_TRUE(store().perform(put("a")));
  ASSERT_TRUE(other(put("theirs")));
  EXPECT_EQ(code_of(put("mine", holdfast::Version{1})), Errc::version_conflict);
  ASSERT_TRUE(other(put("again")));
  EXPECT_TRUE(store().perform(put("mine")));
  EXPECT_EQ(stored(), "mine");
  ASSERT_TRUE(store().perform(erase()));
  ASSERT_TRUE(store().perform(open(5)));
  ASSERT_TRUE(other(open(6)));
  EXPECT_EQ(code_of(write(5, 1, "late")), Errc::stale_token);
}

TEST_F(StoreStateTest, AWriteIsRefusedOnceTheLockIsLost) {
  const core::Holder mine = take_lock();
  ASSERT_TRUE(store().perform(open_as(mine)));
  ASSERT_TRUE(store().perform(write_as(mine, 1, "held")));
  lose_lock();
  EXPECT_EQ(code_of(write_as(mine, 2, "late")), Errc::stale_token);
  // Nor by somebody who has not seen it held.
  const auto late = other(write_as(mine, 2, "late"));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Errc::stale_token);
  EXPECT_EQ(stored(), "held");
}

TEST_F(StoreStateTest, AnotherContenderOfTheSameOwnerIsNotTheHolder) {
  const core::Holder mine = take_lock();
  ASSERT_TRUE(store().perform(open_as(mine)));
  lose_lock();
  EXPECT_GT(take_lock().token, mine.token);
  EXPECT_EQ(code_of(write_as(mine, 1, "late")), Errc::stale_token);
}

TEST_F(StoreStateTest, AWriteThatWasDoneBeforeTheLockWasLostIsDone) {
  const core::Holder mine = take_lock();
  ASSERT_TRUE(store().perform(open_as(mine)));
  port_->expect({{Fate::answer_lost, [&] { lose_lock(); }}});
  EXPECT_EQ(code_of(write_as(mine, 1, "held")), Errc{});
  EXPECT_EQ(stored(), "held");
}

TEST_F(StoreStateTest, WhatIsKeptForATimeGoesByItself) {
  StoreRequest kept = write(5, 1, "a");
  std::get<WriteResource>(kept.operation).keep = Millis{60'000};
  ASSERT_TRUE(store().perform(kept));
  EXPECT_EQ(stored(), "a");
  pass(std::chrono::minutes{2});
  read_the_clock_anew();
  EXPECT_FALSE(stored());
  // Its fence stays a while longer, and for good once a holder has seen that it is gone.
  EXPECT_EQ(code_of(open(4)), Errc::stale_token);
  ASSERT_TRUE(store().perform(read(5)));
  pass(std::chrono::hours{1});
  read_the_clock_anew();
  ASSERT_TRUE(store().perform(
      {.key = "another", .operation = PutKey{.value = "so that somebody may sweep"}}));
  ASSERT_TRUE(store().perform({.key = "another", .operation = EraseKey{}}));
  EXPECT_EQ(code_of(open(4)), Errc::stale_token);
}

TEST_F(StoreStateTest, WhatIsLeftOfAnErasedKeyIsSweptAndVersionsGoOn) {
  const auto first = store().perform(put("a"));
  ASSERT_TRUE(first);
  ASSERT_TRUE(store().perform(put("b")));
  ASSERT_TRUE(store().perform(erase()));
  EXPECT_TRUE(is_there("/hf/%store/values/k"));
  pass(std::chrono::minutes{11});
  read_the_clock_anew();
  ASSERT_TRUE(store().perform({.key = "another", .operation = PutKey{.value = "b"}}));
  ASSERT_TRUE(store().perform({.key = "another", .operation = EraseKey{}}));
  EXPECT_TRUE(contract::eventually([&] { return !is_there("/hf/%store/values/k"); }));
  EXPECT_TRUE(is_there("/hf/%store/values/another"));
  EXPECT_GT(store().perform(put("b"))->version.value(), first->version.value() + 2);
}

// A restored backup may have another content under the same version of a node. It has no sessions
// of before: what was known in one is not used in the next.
TEST_F(StoreStateTest, ANewSessionLooksAgain) {
  ASSERT_TRUE(store().perform(put("a")));
  port_->expire();
  ASSERT_TRUE(store().perform(put("b")));
  const int before = port_->sent();
  ASSERT_TRUE(store().perform(put("c")));
  EXPECT_EQ(port_->sent(), before + 1);
  EXPECT_EQ(port_->sessions(), 2);
}

TEST_F(StoreStateTest, ATokenThatWentBackIsLockedOut) {
  ASSERT_TRUE(store().perform(open(500)));
  const core::Holder mine = take_lock();
  ASSERT_LT(mine.token, Token{500});
  EXPECT_EQ(code_of(open_as(mine)), Errc::stale_token);
}

TEST_F(StoreStateTest, AValueBeyondTheLimitIsRefusedBeforeItIsSent) {
  ASSERT_TRUE(store().perform(put(std::string(zookeeper::kStoredBytesMax, 'v'))));
  const int before = port_->sent();
  const auto refused = store().perform(put(std::string(zookeeper::kStoredBytesMax + 1, 'v')));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::invalid_argument);
  EXPECT_NE(refused.error().message.find("1000001 bytes"), std::string::npos);
  EXPECT_EQ(port_->sent(), before);
}

TEST_F(StoreStateTest, WhatAnotherProgramWroteIsNotTakenForAMark) {
  ASSERT_TRUE(store().perform(open(5)));
  serve(zookeeper::Write{.path = "/hf/%store/values/k", .data = "hello"});
  EXPECT_EQ(code_of(get()), Errc::corrupt);
  EXPECT_EQ(code_of(put("a")), Errc::corrupt);
}

}  // namespace
}  // namespace holdfast::zookeeper_store
