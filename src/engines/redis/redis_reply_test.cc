#include "engines/redis/redis_reply.h"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

const std::string kOwnerText = "000102030405060708090a0b0c0d0e0f";

Reply busy(const std::string& value, std::int64_t ttl_ms) {
  return Reply::of_array({Reply::of_integer(0), Reply::of_text(value), Reply::of_integer(ttl_ms)});
}

TEST(RedisReplyTest, ReadsAGrantExactlyUpToTheHighestToken) {
  const auto reply = Reply::of_array({Reply::of_integer(1), Reply::of_text("9007199254740991")});
  const auto token = read_acquire(reply);
  ASSERT_TRUE(token);
  EXPECT_EQ(token->value(), Token::kMax);
}

TEST(RedisReplyTest, BusyNamesAHolderOfOurs) {
  const auto answer = read_acquire(busy(kOwnerText + ":42", 1500));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Errc::busy);
  ASSERT_TRUE(answer.error().holder);
  EXPECT_EQ(answer.error().holder->owner_fp, Owner::parse(kOwnerText)->fingerprint());
  EXPECT_EQ(answer.error().holder->token, Token{42});
  EXPECT_EQ(answer.error().holder->ttl, Millis{1500});
  EXPECT_FALSE(answer.error().holder->foreign);
}

TEST(RedisReplyTest, BusyMarksAForeignHolderAndShowsNothingOfItsSecret) {
  for (const std::string value : {"d41d8cd9", "a:b", ""}) {
    const auto answer = read_acquire(busy(value, -1));
    ASSERT_FALSE(answer);
    ASSERT_TRUE(answer.error().holder);
    EXPECT_TRUE(answer.error().holder->foreign);
    EXPECT_TRUE(answer.error().holder->owner_fp.empty());
    EXPECT_EQ(answer.error().holder->ttl, Millis{0});
  }
}

TEST(RedisReplyTest, AMarkerNamesNoHolder) {
  const auto asked = read_asked(Reply::of_array({Reply::of_integer(0),
                                                 Reply::of_text(":holdfast:s"),
                                                 Reply::of_integer(700),
                                                 Reply::of_integer(1)}));
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->holder, std::nullopt);
  EXPECT_EQ(asked->change, Millis{700});
  EXPECT_EQ(asked->standing, core::Standing::first);
}

TEST(RedisReplyTest, AnotherNumberOfPermitsIsAnInvalidArgument) {
  const auto asked = read_asked(Reply::of_array({Reply::of_integer(3)}));
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().code, Errc::invalid_argument);
}

TEST(RedisReplyTest, ReadsWhoseLeasesWereBroken) {
  const Owner owner = *Owner::parse(kOwnerText);
  EXPECT_EQ(read_broken(kOwnerText + ":42:"), std::vector{owner});
  EXPECT_EQ(read_broken(kOwnerText + ":42: " + kOwnerText + ":43:"), (std::vector{owner, owner}));
  EXPECT_TRUE(read_broken("their-secret").empty());
  EXPECT_TRUE(read_broken("").empty());
}

TEST(RedisReplyTest, NonsenseIsCorrupt) {
  const auto bad_token = Reply::of_array({Reply::of_integer(1), Reply::of_text("1e15")});
  EXPECT_EQ(read_acquire(bad_token).error().code, Errc::corrupt);
  EXPECT_EQ(read_acquire(Reply{}).error().code, Errc::corrupt);
  EXPECT_EQ(read_renew(Reply::of_array({}), 1).error().code, Errc::corrupt);
  EXPECT_EQ(read_release(Reply::of_text("1")).error().code, Errc::corrupt);
}

TEST(RedisReplyTest, ReadsTheFateOfEachLease) {
  const auto fates = read_renew(Reply::of_array({Reply::of_integer(1), Reply::of_integer(0)}), 2);
  ASSERT_TRUE(fates);
  EXPECT_EQ(*fates, (std::vector{core::Fate::renewed, core::Fate::gone}));
}

TEST(RedisReplyTest, SaysWhatARefusalMeans) {
  EXPECT_EQ(error_of("WRONGTYPE Operation against a key").code, Errc::corrupt);
  EXPECT_EQ(error_of("NOPERM this user has no permissions").code, Errc::denied);
  EXPECT_EQ(error_of("OOM command not allowed").code, Errc::no_space);
  EXPECT_EQ(error_of("LOADING Redis is loading").code, Errc::unavailable);
  EXPECT_EQ(error_of("ERR syntax error").code, Errc::internal);
  EXPECT_EQ(error_of("OOM command not allowed").message, "Redis: OOM command not allowed");
  EXPECT_EQ(read_release(Reply::of_error("NOAUTH log in")).error().code, Errc::denied);
}

}  // namespace
}  // namespace holdfast::redis
