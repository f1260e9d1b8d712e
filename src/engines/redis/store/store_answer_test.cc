#include "engines/redis/store/store_answer.h"

#include <gtest/gtest.h>

#include "core/task_store.h"

namespace holdfast::redis {
namespace {

using core::Earlier;

const StoreRequest kGet{.key = "k", .operation = GetKey{}};
const StoreRequest kPut{.key = "k", .operation = PutKey{.value = "v", .if_version = Version{7}}};

Reply answer(std::string word, std::initializer_list<std::int64_t> numbers) {
  Reply reply = Reply::of_array({Reply::of_text(std::move(word))});
  for (const std::int64_t number : numbers) reply.items.push_back(Reply::of_integer(number));
  return reply;
}

Reply refusal(std::string word, std::int64_t first, std::int64_t second, std::string settled) {
  return Reply::of_array({Reply::of_text(std::move(word)),
                          Reply::of_text("a sentence"),
                          Reply::of_integer(first),
                          Reply::of_integer(second),
                          Reply::of_text(std::move(settled))});
}

TEST(StoreAnswerTest, ReadsAnEntryWithWhoWroteIt) {
  Reply reply = answer("found", {3, 90, 34, 2});
  reply.items.push_back(Reply::of_text(""));
  const auto read = read_store_answer(kGet, reply);
  ASSERT_TRUE(read.result);
  EXPECT_EQ(read.result->sequence, 3U);
  ASSERT_TRUE(read.result->entry);
  EXPECT_EQ(read.result->entry->value, "");
  EXPECT_EQ(read.result->entry->version, Version{90});
  EXPECT_EQ(read.result->entry->token, Token{34});
  EXPECT_EQ(read.result->entry->sequence, 2U);
}

TEST(StoreAnswerTest, ReadsThatThereIsNothing) {
  const auto read = read_store_answer(kGet, answer("absent", {0, 90}));
  ASSERT_TRUE(read.result);
  EXPECT_FALSE(read.result->entry);
  EXPECT_EQ(read.result->version, Version{90});
}

TEST(StoreAnswerTest, ReadsWhatBecameOfAChange) {
  const auto applied = read_store_answer(kPut, answer("applied", {90, 4}));
  EXPECT_TRUE(applied.result->changed);
  EXPECT_EQ(applied.result->applied, Applied::applied);
  EXPECT_EQ(applied.result->version, Version{90});
  EXPECT_EQ(applied.result->sequence, 4U);
  const auto duplicate = read_store_answer(kPut, answer("duplicate", {90, 4}));
  EXPECT_FALSE(duplicate.result->changed);
  EXPECT_EQ(duplicate.result->applied, Applied::duplicate);
  EXPECT_FALSE(read_store_answer(kPut, answer("unchanged", {0, 0})).result->changed);
}

TEST(StoreAnswerTest, ReadsARefusalWithItsNumbers) {
  const auto stale = read_store_answer(kGet, refusal("stale_token", 1, 2, "settled"));
  ASSERT_FALSE(stale.result);
  EXPECT_EQ(stale.result.error().code, Errc::stale_token);
  EXPECT_EQ(stale.result.error().message, "a sentence");
  EXPECT_EQ(stale.result.error().yours, Token{1});
  EXPECT_EQ(stale.result.error().highest, Token{2});
  const auto conflict = read_store_answer(kPut, refusal("version_conflict", 9, 0, "settled"));
  EXPECT_EQ(conflict.result.error().code, Errc::version_conflict);
  EXPECT_EQ(conflict.result.error().actual, Version{9});
  EXPECT_EQ(conflict.earlier, Earlier::settled);
}

TEST(StoreAnswerTest, SaysWhereAnEarlierAttemptMayHaveBeenDone) {
  const auto open = read_store_answer(kPut, refusal("version_conflict", 9, 0, "unsettled"));
  EXPECT_EQ(open.earlier, Earlier::open);
  const StoreRequest create{.key = "k",
                            .operation = PutKey{.value = "v", .if_version = Version::absent()}};
  const auto exists = read_store_answer(create, refusal("version_conflict", 9, 0, "settled"));
  EXPECT_EQ(exists.earlier, Earlier::open);
  const auto look = read_store_answer(kGet, refusal("stale_token", 1, 2, "unsettled"));
  EXPECT_EQ(look.earlier, Earlier::settled);
}

TEST(StoreAnswerTest, ARefusalOfTheServerNamesTheKey) {
  const auto wrong = read_store_answer(kGet, Reply::of_error("WRONGTYPE Operation against a key"));
  EXPECT_EQ(wrong.result.error().code, Errc::corrupt);
  EXPECT_NE(wrong.result.error().message.find("\"k\""), std::string::npos);
  EXPECT_EQ(wrong.earlier, Earlier::open);
  EXPECT_EQ(read_store_answer(kGet, Reply::of_error("OOM not allowed")).result.error().code,
            Errc::no_space);
  EXPECT_EQ(
      read_store_answer(kGet, Reply::of_error("ERR ACL failure in script: no")).result.error().code,
      Errc::denied);
}

TEST(StoreAnswerTest, NonsenseIsCorrupt) {
  for (const Reply& reply : {Reply{},
                             Reply::of_array({}),
                             Reply::of_text("applied"),
                             answer("applied", {1}),
                             answer("applied", {-1, 0}),
                             answer("found", {0, 1, 0, 0}),
                             answer("stale_token", {1, 2}),
                             refusal("another", 1, 2, "settled")}) {
    const auto read = read_store_answer(kGet, reply);
    ASSERT_FALSE(read.result);
    EXPECT_EQ(read.result.error().code, Errc::corrupt);
  }
}

TEST(StoreAnswerTest, OnlyLookingHasNoUnknownOutcome) {
  EXPECT_EQ(core::unanswered(kGet).code, Errc::unavailable);
  EXPECT_EQ(core::unanswered(kPut).code, Errc::unknown_outcome);
}

}  // namespace
}  // namespace holdfast::redis
