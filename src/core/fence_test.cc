// The seven rules of the store, as far as they are decisions.

#include "core/fence.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <vector>

namespace holdfast::core {
namespace {

Holder holder(std::uint64_t token, Mode mode = Mode::exclusive, std::string owner = "") {
  if (owner.empty()) owner = "owner-" + std::to_string(token);
  return {.domain = "e#x", .mode = mode, .token = Token{token}, .owner_fp = owner};
}

/// A resource in memory: applies what the functions decide.
class Register {
 public:
  Errc open(const Holder& who, const OpenOptions& options = {}) {
    return settle(decide_open(fence_, who, options));
  }
  Errc read(const Holder& who, Opened opened = Opened::before) {
    return settle(decide_read(fence_, who, opened));
  }
  Errc write(const Holder& who,
             std::uint64_t sequence,
             std::string value,
             Opened opened = Opened::before) {
    const auto decision = decide_write(
        fence_, who, {.opened = opened, .sequence = sequence, .leaves_the_same = value_ == value});
    if (!decision) return keep(decision.error());
    fence_ = decision->fence;
    applied_ = decision->applied;
    if (applied_ == Applied::applied) value_ = std::move(value);
    return Errc{};
  }

  const std::optional<Fence>& fence() const { return fence_; }
  void forget() { fence_.reset(); }
  void rebase(std::string_view domain) { fence_ = rebased(*fence_, domain); }
  Applied applied() const { return applied_; }
  const StoreError& error() const { return error_; }
  const std::string& value() const { return value_; }

 private:
  Errc settle(const Result<Fence, StoreError>& decided) {
    if (!decided) return keep(decided.error());
    fence_ = *decided;
    return Errc{};
  }
  Errc keep(const StoreError& error) {
    error_ = error;
    return error.code;
  }

  std::optional<Fence> fence_;
  std::string value_{"-"};
  Applied applied_{Applied::applied};
  StoreError error_{Errc::internal};
};

constexpr Errc kDone{};

TEST(FenceTest, OpenFencesTheOldHolderBeforeTheNewOneWrites) {
  Register x;
  ASSERT_EQ(x.open(holder(1)), kDone);
  ASSERT_EQ(x.open(holder(2)), kDone);
  EXPECT_EQ(x.write(holder(1), 1, "late"), Errc::stale_token);
  EXPECT_EQ(x.error().yours, Token{1});
  EXPECT_EQ(x.error().highest, Token{2});
  EXPECT_EQ(x.read(holder(1)), Errc::stale_token);
  EXPECT_EQ(x.open(holder(1)), Errc::stale_token);
  EXPECT_EQ(x.value(), "-");
}

TEST(FenceTest, OpenMayBeRepeatedAndTellsTheLastSequence) {
  Register x;
  ASSERT_EQ(x.open(holder(1)), kDone);
  ASSERT_EQ(x.write(holder(1), 5, "a"), kDone);
  ASSERT_EQ(x.open(holder(1)), kDone);
  EXPECT_EQ(x.fence()->sequence, 5U);
}

TEST(FenceTest, RepeatingTheLastOperationIsADuplicate) {
  Register x;
  ASSERT_EQ(x.open(holder(1)), kDone);
  ASSERT_EQ(x.write(holder(1), 1, "a"), kDone);
  EXPECT_EQ(x.applied(), Applied::applied);
  const Fence before = *x.fence();
  ASSERT_EQ(x.write(holder(1), 1, "a"), kDone);
  EXPECT_EQ(x.applied(), Applied::duplicate);
  EXPECT_EQ(*x.fence(), before);
  EXPECT_EQ(x.write(holder(1), 1, "b"), Errc::invalid_argument);
}

TEST(FenceTest, AnOlderSequenceIsRefused) {
  Register x;
  ASSERT_EQ(x.open(holder(1)), kDone);
  ASSERT_EQ(x.write(holder(1), 1, "a"), kDone);
  ASSERT_EQ(x.write(holder(1), 2, "b"), kDone);
  EXPECT_EQ(x.write(holder(1), 1, "a"), Errc::stale_token);
  EXPECT_EQ(x.value(), "b");
  EXPECT_EQ(x.write(holder(1), 0, "a"), Errc::invalid_argument);
}

TEST(FenceTest, ASequenceOutOfRangeIsRefused) {
  Register x;
  ASSERT_EQ(x.open(holder(1)), kDone);
  for (const std::uint64_t bad : {kSequenceMax + 1, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    EXPECT_EQ(x.write(holder(1), bad, "a"), Errc::invalid_argument) << bad;
  }
  EXPECT_EQ(x.write(holder(1), kSequenceMax, "a"), kDone);
  EXPECT_EQ(x.write(holder(1), kSequenceMax, "a"), kDone);
  EXPECT_EQ(x.applied(), Applied::duplicate);
  EXPECT_EQ(decide_write(x.fence(), holder(1), {}).error().code, Errc::invalid_argument);
}

TEST(FenceTest, TheSameTokenOfAnotherOwnerIsRefused) {
  Register x;
  ASSERT_EQ(x.open(holder(1)), kDone);
  const Holder other = holder(1, Mode::exclusive, "another");
  EXPECT_EQ(x.open(other), Errc::stale_token);
  EXPECT_EQ(x.read(other), Errc::stale_token);
  EXPECT_EQ(x.write(other, 1, "a"), Errc::stale_token);
  EXPECT_EQ(x.write(other, 1, "a", Opened::not_yet), Errc::stale_token);
}

TEST(FenceTest, ReadersDoNotLockEachOtherOut) {
  Register x;
  ASSERT_EQ(x.open(holder(3, Mode::shared)), kDone);
  ASSERT_EQ(x.open(holder(2, Mode::shared)), kDone);
  EXPECT_EQ(x.read(holder(2, Mode::shared)), kDone);
  EXPECT_EQ(x.read(holder(3, Mode::shared)), kDone);
  EXPECT_EQ(x.write(holder(3, Mode::shared), 1, "a"), Errc::invalid_argument);
}

TEST(FenceTest, AReaderFencesTheWriterBeforeIt) {
  Register x;
  ASSERT_EQ(x.open(holder(1)), kDone);
  ASSERT_EQ(x.open(holder(2, Mode::shared)), kDone);
  EXPECT_EQ(x.write(holder(1), 1, "late"), Errc::stale_token);
  EXPECT_EQ(x.error().highest, Token{2});
  // Nothing was written since, so that what it reads is what it would have read in time.
  EXPECT_EQ(x.read(holder(1)), kDone);
}

TEST(FenceTest, AWriterFencesTheReadersBeforeIt) {
  Register x;
  ASSERT_EQ(x.open(holder(1, Mode::shared)), kDone);
  ASSERT_EQ(x.open(holder(2)), kDone);
  EXPECT_EQ(x.read(holder(1, Mode::shared)), Errc::stale_token);
  EXPECT_EQ(x.error().highest, Token{2});
}

TEST(FenceTest, AnotherLockIsTheWrongDomain) {
  Register x;
  ASSERT_EQ(x.open(holder(1)), kDone);
  Holder other = holder(9);
  other.domain = "e#y";
  EXPECT_EQ(x.open(other), Errc::wrong_domain);
  EXPECT_EQ(x.read(other), Errc::wrong_domain);
  EXPECT_EQ(x.write(other, 1, "a"), Errc::wrong_domain);
  x.rebase("e#y");
  EXPECT_EQ(x.open(holder(2)), Errc::wrong_domain);
  EXPECT_EQ(x.open(other), kDone);
}

TEST(FenceTest, ALockIsTheSameWithAndWithoutAPrefix) {
  EXPECT_EQ(lock_domain("local:1?prefix=team%20a/", "x"), lock_domain("local:1", "team a/x"));
  EXPECT_NE(lock_domain("local:1", "x"), lock_domain("local:2", "x"));
}

TEST(FenceTest, StrictAllowsOneWritePerToken) {
  Register x;
  ASSERT_EQ(x.open(holder(1), {.policy = WritePolicy::strict}), kDone);
  ASSERT_EQ(x.write(holder(1), 1, "a"), kDone);
  EXPECT_EQ(x.write(holder(1), 1, "a"), kDone);
  EXPECT_EQ(x.applied(), Applied::duplicate);
  EXPECT_EQ(x.write(holder(1), 2, "b"), Errc::stale_token);
  ASSERT_EQ(x.open(holder(2)), kDone);
  EXPECT_EQ(x.write(holder(2), 1, "c"), kDone);
  EXPECT_EQ(x.open(holder(3), {.policy = WritePolicy::many}), Errc::invalid_argument);
}

TEST(FenceTest, WhatWasRemovedDoesNotLetAnOldHolderIn) {
  Register x;
  ASSERT_EQ(x.open(holder(1)), kDone);
  x.forget();
  EXPECT_EQ(x.write(holder(1), 1, "late"), Errc::stale_token);
  EXPECT_EQ(x.read(holder(1)), Errc::stale_token);
  EXPECT_FALSE(x.error().highest.has_value());
}

TEST(FenceTest, AnUnopenedOperationRegistersItsToken) {
  Register x;
  ASSERT_EQ(x.write(holder(2), 1, "a", Opened::not_yet), kDone);
  EXPECT_EQ(x.write(holder(1), 1, "late", Opened::not_yet), Errc::stale_token);
  ASSERT_EQ(x.read(holder(3), Opened::not_yet), kDone);
  EXPECT_EQ(x.write(holder(2), 2, "late"), Errc::stale_token);
}

TEST(FenceTest, PermitsAndTokensOutOfRangeAreRefused) {
  Sequencer sequencer{
      .domain = "e", .name = "x", .mode = Mode::permit, .token = Token{1}, .owner_fp = {}};
  EXPECT_EQ(to_holder(sequencer).error().code, Errc::invalid_argument);
  sequencer.mode = Mode::shared;
  EXPECT_TRUE(to_holder(sequencer));
  for (const std::uint64_t bad : {std::uint64_t{0}, Token::kMax + 1, ~std::uint64_t{0}}) {
    sequencer.token = Token{bad};
    EXPECT_EQ(to_holder(sequencer).error().code, Errc::invalid_argument) << bad;
  }
}

// Whatever order requests arrive in, the operations let through under one token form one block:
// after an operation of a newer token, none of an older one.
RC_GTEST_PROP(FenceProperty, OperationsOfATokenAreContiguous, ()) {
  Register x;
  std::vector<std::uint64_t> accepted;
  const auto steps = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(1, 6), rc::gen::inRange(0, 3)));
  std::uint64_t sequence = 0;
  for (const auto& [token, action] : steps) {
    const Holder who = holder(static_cast<std::uint64_t>(token));
    ++sequence;
    const Errc outcome = action == 0   ? x.open(who)
                         : action == 1 ? x.read(who)
                                       : x.write(who, sequence, std::to_string(sequence));
    if (outcome == kDone) accepted.push_back(who.token.value());
  }
  RC_ASSERT(std::is_sorted(accepted.begin(), accepted.end()));
}

}  // namespace
}  // namespace holdfast::core
