#include "engines/postgres/store/store_answer.h"

#include <gtest/gtest.h>

namespace holdfast::postgres {
namespace {

const StoreRequest kGet{.key = "k", .operation = GetKey{}};
const StoreRequest kPut{.key = "k", .operation = PutKey{.value = "v", .if_version = Version{7}}};

Row row_of(std::string word, Value value = {}, Value message = {}, std::string settled = "t") {
  return {std::move(word), "3", "90", "34", "2", std::move(value), std::move(message), settled};
}

Result<core::StoreAnswer> read(const StoreRequest& request, Row row) {
  return read_store_answer(request, Result<Answer>{Answer{Rows{std::move(row)}}});
}

TEST(PostgresStoreAnswerTest, ReadsAnEntryWithWhoWroteIt) {
  const auto answer = read(kGet, row_of("found", "6100"));
  ASSERT_TRUE(answer && answer->result && answer->result->entry);
  EXPECT_EQ(answer->result->sequence, 3U);
  EXPECT_EQ(answer->result->entry->value, (std::string{"a\0", 2}));
  EXPECT_EQ(answer->result->entry->version, Version{90});
  EXPECT_EQ(answer->result->entry->token, Token{34});
  EXPECT_EQ(answer->result->entry->sequence, 2U);
  const auto absent = read(kGet, row_of("absent"));
  EXPECT_FALSE(absent->result->entry);
  EXPECT_EQ(absent->result->version, Version{90});
}

TEST(PostgresStoreAnswerTest, ReadsARefusalWithItsNumbers) {
  const auto answer = read(kPut, row_of("stale_token", {}, "a sentence"));
  ASSERT_TRUE(answer && !answer->result);
  EXPECT_EQ(answer->result.error().code, Errc::stale_token);
  EXPECT_EQ(answer->result.error().message, "a sentence");
  EXPECT_EQ(answer->result.error().yours, Token{3});
  EXPECT_EQ(answer->result.error().highest, Token{90});
  EXPECT_EQ(answer->earlier, core::Earlier::settled);
  EXPECT_EQ(read(kPut, row_of("stale_token", {}, "", "f"))->earlier, core::Earlier::open);
}

TEST(PostgresStoreAnswerTest, WhatTheServerRefusesNamesTheKey) {
  const Refusal refusal{.sqlstate = "42501", .message = "permission denied"};
  const auto answer = read_store_answer(kPut, Result<Answer>{Answer{refusal}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Errc::denied);
  EXPECT_NE(answer.error().message.find("\"k\""), std::string::npos);
}

TEST(PostgresStoreAnswerTest, NonsenseIsCorrupt) {
  Row short_row = row_of("absent");
  short_row.pop_back();
  Row no_number = row_of("absent");
  no_number[1] = "x";
  for (const Row& row : {Row{},
                         short_row,
                         no_number,
                         row_of("another"),
                         row_of("found"),
                         row_of("found", "6"),
                         row_of("found", "zz")}) {
    const auto answer = read(kGet, row);
    ASSERT_TRUE(answer && !answer->result);
    EXPECT_EQ(answer->result.error().code, Errc::corrupt);
  }
  const auto nothing = read_store_answer(kGet, Result<Answer>{Answer{Rows{}}});
  EXPECT_EQ(nothing->result.error().code, Errc::corrupt);
}

}  // namespace
}  // namespace holdfast::postgres
