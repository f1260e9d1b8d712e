#include "engines/postgres/lease_answers.h"

#include <gtest/gtest.h>

namespace holdfast::postgres {
namespace {

const std::string kOwnerText(32, 'a');

TEST(LeaseAnswersTest, ReadsAGrant) {
  const auto asked = read_asked({"granted", "1099511627777", std::nullopt, std::nullopt});
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->token, Token{1099511627777});
}

TEST(LeaseAnswersTest, ReadsWhoIsInTheWay) {
  const auto asked = read_asked({"queued", "42 " + kOwnerText + " h/7", "900", "t"});
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->token, std::nullopt);
  EXPECT_EQ(asked->standing, core::Standing::first);
  EXPECT_EQ(asked->change, Millis{900});
  ASSERT_TRUE(asked->holder);
  EXPECT_EQ(asked->holder->token, Token{42});
  EXPECT_EQ(asked->holder->owner_fp, Owner::parse(kOwnerText)->fingerprint());
  EXPECT_EQ(asked->holder->ttl, Millis{899});
}

TEST(LeaseAnswersTest, SeveralHoldersAreNobodyInParticular) {
  const auto asked = read_asked({"busy", std::nullopt, "5", "f"});
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->holder, std::nullopt);
  EXPECT_EQ(asked->standing, core::Standing::none);
}

TEST(LeaseAnswersTest, AnotherNumberOfPermitsIsAnInvalidArgument) {
  const auto asked = read_asked({"permits", std::nullopt, std::nullopt, std::nullopt});
  EXPECT_EQ(asked.error().code, Errc::invalid_argument);
}

TEST(LeaseAnswersTest, NonsenseIsCorrupt) {
  EXPECT_EQ(read_asked({"granted", "x", std::nullopt, std::nullopt}).error().code, Errc::corrupt);
  EXPECT_EQ(read_asked({"granted"}).error().code, Errc::corrupt);
  EXPECT_EQ(read_confirm({}).error().code, Errc::corrupt);
  EXPECT_EQ(read_release({}).error().code, Errc::corrupt);
  EXPECT_EQ(read_renew({{"renewed"}}, 2).error().code, Errc::corrupt);
  EXPECT_EQ(read_renew({{"perhaps"}}, 1).error().code, Errc::corrupt);
}

TEST(LeaseAnswersTest, ReadsFatesInTheirOrder) {
  const auto fates = read_renew({{"renewed"}, {"gone"}, {"broken"}, {"failed_over"}}, 4);
  ASSERT_TRUE(fates);
  using core::Fate;
  EXPECT_EQ(*fates, (std::vector{Fate::renewed, Fate::gone, Fate::broken, Fate::failed_over}));
}

TEST(LeaseAnswersTest, ReadsNotices) {
  const auto granted = read_notice("granted " + kOwnerText + " 41");
  ASSERT_TRUE(granted);
  EXPECT_EQ(granted->kind, Notice::Kind::granted);
  EXPECT_EQ(granted->owner, *Owner::parse(kOwnerText));
  EXPECT_EQ(granted->token, Token{41});
  EXPECT_FALSE(read_notice("granted " + kOwnerText));
  const auto first = read_notice("first " + kOwnerText + " 700");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->kind, Notice::Kind::first);
  EXPECT_EQ(first->change, Millis{700});
  EXPECT_EQ(read_notice("broken " + kOwnerText)->kind, Notice::Kind::broken);
  for (const char* text : {"", "granted", "granted me", "sold"}) EXPECT_FALSE(read_notice(text));
}

TEST(LeaseAnswersTest, ReadsALock) {
  const Value none;
  const LockInfo lock = read_lock("x",
                                  {{"holder", kOwnerText, "h/1", "p3", "41", "500", "900"},
                                   {"delay", none, none, none, none, "70", "0"},
                                   {"waiter", kOwnerText, "h/2", "x", none, none, "900"}});
  EXPECT_EQ(lock.name, "x");
  EXPECT_EQ(lock.mode, Mode::permit);
  EXPECT_EQ(lock.permits, 3u);
  EXPECT_EQ(lock.delay, Millis{70});
  ASSERT_EQ(lock.holders.size(), 1u);
  EXPECT_EQ(lock.holders[0].token, Token{41});
  EXPECT_EQ(lock.holders[0].ttl, Millis{500});
  ASSERT_EQ(lock.waiters.size(), 1u);
  EXPECT_EQ(lock.waiters[0].mode, Mode::exclusive);
  EXPECT_EQ(lock.waiters[0].ttl, Millis{900});
}

}  // namespace
}  // namespace holdfast::postgres
