// Answers that are lost: whatever is asked is done once, or the caller learns that nobody knows.

// The suite of every engine whose store keeps marks: HOLDFAST_STORE_BED is the header of its bed.

#include HOLDFAST_STORE_BED

namespace holdfast::marked_store {
namespace {

using LostAnswerTest = StoreBed;

TEST_F(LostAnswerTest, APutIsDoneOnce) {
  port_->expect({{Fate::answer_lost}});
  const auto done = store().perform(put("a"));
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(done->changed);
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
  EXPECT_FALSE(stored());
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
  ASSERT_TRUE(other(erase()));
  EXPECT_FALSE(port_->deliver());
  EXPECT_FALSE(stored());
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
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(other(put("theirs " + std::to_string(i))));
  };
  port_->expect({{Fate::answer_lost, bustle}});
  EXPECT_EQ(code_of(put("mine", before)), Errc::unknown_outcome);
  EXPECT_EQ(stored(), "theirs 4");
}

// A creation that is still under way finds that there was something, even when it is gone again.
TEST_F(LostAnswerTest, ACreationThatComesLateFindsTheTraceOfWhatWasErased) {
  port_->expect({{Fate::delayed, [&] { EXPECT_TRUE(other(put("theirs"))); }}});
  EXPECT_EQ(code_of(put("mine", Version::absent())), Errc::version_conflict);
  ASSERT_TRUE(other(erase()));
  EXPECT_FALSE(port_->deliver());
  EXPECT_FALSE(stored());
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
  EXPECT_FALSE(port_->deliver());
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
  EXPECT_FALSE(port_->deliver());
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
}

TEST_F(LostAnswerTest, OpeningIsSimplyRepeated) {
  port_->expect({{Fate::answer_lost}});
  EXPECT_TRUE(store().perform(open(5)));
  // Overtaken between two attempts: that is how it is now.
  port_->expect({{Fate::answer_lost, [&] { EXPECT_TRUE(other(open(7))); }}});
  EXPECT_EQ(code_of(open(6)), Errc::stale_token);
}

TEST_F(LostAnswerTest, WithoutAConnectionNothingWasChanged) {
  port_->expect({{Fate::not_sent}, {Fate::not_sent}});
  EXPECT_TRUE(store().perform(put("a")));
  EXPECT_EQ(stored(), "a");
}

TEST_F(LostAnswerTest, WhoIsLockedOutNeedNotTryAgain) {
  port_->always(Fate::locked_out);
  EXPECT_EQ(code_of(put("a")), Errc::denied);
  EXPECT_EQ(port_->sent(), 1);
}

TEST_F(LostAnswerTest, WhoIsLockedOutAfterALostAnswerKnowsNothing) {
  ASSERT_TRUE(store().perform(put("a")));
  port_->expect({{Fate::answer_lost}});
  port_->always(Fate::locked_out);
  EXPECT_EQ(code_of(put("b")), Errc::unknown_outcome);
}

TEST_F(LostAnswerTest, AtTheTimeoutItIsUnknownOrUnavailable) {
  const auto hasty = make_store(*env_, port_, Millis{60});
  const auto code = [&](const StoreRequest& request) {
    const auto result = hasty->perform(request);
    return result ? Errc{} : result.error().code;
  };
  port_->always(Fate::request_lost);
  // Only looking was tried.
  EXPECT_EQ(code(put("a")), Errc::unavailable);
  EXPECT_EQ(code(get()), Errc::unavailable);
  port_->always(Fate::answered);
  ASSERT_EQ(code(put("a")), Errc{});
  port_->always(Fate::request_lost);
  EXPECT_EQ(code(put("b")), Errc::unknown_outcome);
}

}  // namespace
}  // namespace holdfast::marked_store
