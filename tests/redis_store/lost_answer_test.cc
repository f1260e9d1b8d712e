// Requests and answers that get lost: the effect comes once or not at all, and the caller is never
// told the wrong thing.

#include "tests/redis_store/store_bed.h"

namespace holdfast::redis_store {
namespace {

using LostAnswerTest = StoreBed;

// A script that is sent again after its answer was lost knows its own work.
TEST_F(LostAnswerTest, APutIsDoneOnceAndItsVersionIsTheFirst) {
  Version first{0};
  const auto look = [&] { first = other(get())->entry->version; };
  port_->expect({{Fate::answer_lost, look}});
  const auto done = store().perform(put("a"));
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(done->changed);
  EXPECT_EQ(done->version, first);
  EXPECT_EQ(port_->sent(), 2);
}

TEST_F(LostAnswerTest, APutWithAVersionDoesNotConflictWithItself) {
  const auto before = other(put("a"))->version;
  port_->expect({{Fate::answer_lost}, {Fate::answer_lost}});
  const auto done = store().perform(put("b", before));
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(stored(), "b");
  EXPECT_EQ(other(get())->entry->version, done->version);
}

TEST_F(LostAnswerTest, ACreationDoesNotConflictWithItself) {
  port_->expect({{Fate::answer_lost}});
  EXPECT_TRUE(store().perform(put("a", Version::absent())));
}

TEST_F(LostAnswerTest, AnEraseFoundWhatItErased) {
  ASSERT_TRUE(other(put("a")));
  port_->expect({{Fate::answer_lost}});
  const auto done = store().perform(erase());
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->changed);
}

// Otherwise somebody's update, made in between from what was put, would be lost.
TEST_F(LostAnswerTest, WhatOthersPutMeanwhileStays) {
  port_->expect({{Fate::answer_lost, [&] { EXPECT_TRUE(other(put("theirs"))); }}});
  const auto done = store().perform(put("mine"));
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->changed);
  EXPECT_EQ(stored(), "theirs");
}

TEST_F(LostAnswerTest, WhatOthersPutAfterAnEraseStays) {
  ASSERT_TRUE(other(put("old")));
  port_->expect({{Fate::answer_lost, [&] { EXPECT_TRUE(other(put("theirs"))); }}});
  EXPECT_TRUE(store().perform(erase())->changed);
  EXPECT_EQ(stored(), "theirs");
}

// The first attempt comes late, after the second was done and others have gone on.
TEST_F(LostAnswerTest, ALateAttemptChangesNothing) {
  port_->expect({{Fate::delayed}});
  ASSERT_TRUE(store().perform(put("mine")));
  ASSERT_TRUE(other(put("theirs")));
  ASSERT_TRUE(port_->deliver());
  EXPECT_EQ(stored(), "theirs");

  port_->expect({{Fate::delayed}});
  ASSERT_TRUE(store().perform(erase())->changed);
  ASSERT_TRUE(other(put("theirs again")));
  ASSERT_TRUE(port_->deliver());
  EXPECT_EQ(stored(), "theirs again");
}

TEST_F(LostAnswerTest, AConflictIsTrueWhenTheLostRequestWasNotDone) {
  const auto before = other(put("a"))->version;
  port_->expect({{Fate::request_lost, [&] { EXPECT_TRUE(other(put("theirs"))); }}});
  EXPECT_EQ(code_of(put("mine", before)), Errc::version_conflict);
  EXPECT_EQ(stored(), "theirs");
}

// Too much has happened to tell whose change was the first.
TEST_F(LostAnswerTest, WhatCannotBeSettledIsUnknown) {
  const auto before = other(put("a"))->version;
  const auto bustle = [&] {
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(other(put("theirs " + std::to_string(i))));
  };
  port_->expect({{Fate::answer_lost, bustle}});
  EXPECT_EQ(code_of(put("mine", before)), Errc::unknown_outcome);
  EXPECT_EQ(stored(), "theirs 3");
}

// The creation may be under way still, and succeed once the key is erased again.
TEST_F(LostAnswerTest, ACreationThatMayStillComeIsUnknown) {
  port_->expect({{Fate::delayed, [&] { EXPECT_TRUE(other(put("theirs"))); }}});
  EXPECT_EQ(code_of(put("mine", Version::absent())), Errc::unknown_outcome);
  ASSERT_TRUE(other(erase()));
  ASSERT_TRUE(port_->deliver());
  EXPECT_EQ(stored(), "mine");
}

TEST_F(LostAnswerTest, AFencedWriteIsDoneOnce) {
  ASSERT_TRUE(store().perform(open(5)));
  port_->expect({{Fate::answer_lost}});
  const auto done = store().perform(write(5, 1, "a"));
  ASSERT_TRUE(done);
  EXPECT_EQ(done->applied, Applied::applied);
  EXPECT_EQ(done->sequence, 1U);
  // A second call with the same number, though, is a duplicate.
  EXPECT_EQ(store().perform(write(5, 1, "a"))->applied, Applied::duplicate);
}

TEST_F(LostAnswerTest, AWriteWithoutASequenceIsDoneOnce) {
  StoreRequest next = write(5, 1, "a");
  std::get<WriteResource>(next.operation).sequence.reset();
  port_->expect({{Fate::answer_lost}});
  ASSERT_EQ(store().perform(next)->sequence, 1U);
  EXPECT_EQ(store().perform(next)->sequence, 2U);
  port_->expect({{Fate::delayed}});
  ASSERT_EQ(store().perform(next)->sequence, 3U);
  ASSERT_TRUE(port_->deliver());
  EXPECT_EQ(other(open(5))->sequence, 3U);
}

// It was done before the newer holder came: to say stale_token would be wrong.
TEST_F(LostAnswerTest, AWriteThatWasDoneBeforeATakeoverIsDone) {
  port_->expect({{Fate::answer_lost, [&] { EXPECT_TRUE(other(open(6))); }}});
  EXPECT_EQ(code_of(write(5, 1, "a")), Errc{});
  EXPECT_EQ(stored(), "a");
}

TEST_F(LostAnswerTest, AWriteThatWasOvertakenOnItsWayIsStale) {
  ASSERT_TRUE(store().perform(open(5)));
  port_->expect({{Fate::delayed, [&] { EXPECT_TRUE(other(open(6))); }}});
  EXPECT_EQ(code_of(write(5, 1, "late")), Errc::stale_token);
  ASSERT_TRUE(port_->deliver());
  EXPECT_FALSE(stored());
}

TEST_F(LostAnswerTest, ARebaseIsDoneOnce) {
  ASSERT_TRUE(store().perform(open(5)));
  const StoreRequest rebase{.key = "k", .operation = RebaseResource{.domain = "new#y"}};
  StoreRequest newcomer = open(1);
  std::get<OpenResource>(newcomer.operation).holder.domain = "new#y";
  port_->expect({{Fate::answer_lost, [&] { EXPECT_TRUE(other(newcomer)); }}});
  ASSERT_TRUE(store().perform(rebase));
  // The holder under the new lock is still known.
  StoreRequest next = write(1, 1, "a");
  std::get<WriteResource>(next.operation).holder.domain = "new#y";
  std::get<WriteResource>(next.operation).opened = core::Opened::before;
  EXPECT_TRUE(store().perform(next));
  EXPECT_EQ(command({"XLEN",
                     "hf:\x01"
                     "audit:value:{k}"})
                .integer,
            1);
}

TEST_F(LostAnswerTest, LookingAndOpeningAreSimplyRepeated) {
  ASSERT_TRUE(other(put("a")));
  port_->expect({{Fate::request_lost}, {Fate::answer_lost}});
  EXPECT_EQ(store().perform(get())->entry->value, "a");
  port_->expect({{Fate::answer_lost}});
  EXPECT_TRUE(store().perform(open(5)));
  // Overtaken between two attempts: that is how it is now.
  port_->expect({{Fate::answer_lost, [&] { EXPECT_TRUE(other(open(7))); }}});
  EXPECT_EQ(code_of(open(6)), Errc::stale_token);
}

TEST_F(LostAnswerTest, WithoutAConnectionNothingWasChanged) {
  port_->expect({{Fate::not_sent}, {Fate::not_sent}});
  EXPECT_TRUE(store().perform(put("a")));
  EXPECT_EQ(port_->sent(), 3);
}

TEST_F(LostAnswerTest, WhoIsLockedOutNeedNotTryAgain) {
  port_->always(Fate::locked_out);
  EXPECT_EQ(code_of(put("a")), Errc::denied);
  EXPECT_EQ(port_->sent(), 1);
  // Unless something went before, which may have been done.
  port_->expect({{Fate::answer_lost}});
  EXPECT_EQ(code_of(put("a")), Errc::unknown_outcome);
}

class ShortPatienceTest : public StoreBed {
 protected:
  ShortPatienceTest()
      : hasty_{std::make_shared<redis::RedisStore>(
            *env_, port_, redis::StoreSettings{.prefix = kPrefix, .timeout = Millis{60}})} {}

  Errc hasty(const StoreRequest& request) {
    const auto result = hasty_->perform(request);
    return result ? Errc{} : result.error().code;
  }

  std::shared_ptr<redis::RedisStore> hasty_;
};

TEST_F(ShortPatienceTest, AtTheTimeoutItIsUnknownOrUnavailable) {
  port_->always(Fate::not_sent);
  EXPECT_EQ(hasty(put("a")), Errc::unavailable);
  port_->always(Fate::request_lost);
  EXPECT_EQ(hasty(put("a")), Errc::unknown_outcome);
  EXPECT_EQ(hasty(write(1, 1, "a")), Errc::unknown_outcome);
  EXPECT_EQ(hasty(open(1)), Errc::unknown_outcome);
  EXPECT_EQ(hasty(get()), Errc::unavailable);
  // One attempt that may have been done is enough, however the others went.
  port_->always(Fate::not_sent);
  port_->expect({{Fate::request_lost}});
  EXPECT_EQ(hasty(put("a")), Errc::unknown_outcome);
}

TEST_F(ShortPatienceTest, ASilentServerIsNotWaitedForLonger) {
  port_->always(Fate::silence);
  EXPECT_EQ(hasty(put("a")), Errc::unknown_outcome);
  EXPECT_EQ(hasty(get()), Errc::unavailable);
}

}  // namespace
}  // namespace holdfast::redis_store
