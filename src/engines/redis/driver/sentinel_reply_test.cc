#include "engines/redis/driver/sentinel_reply.h"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

Reply texts(std::initializer_list<const char*> words) {
  std::vector<Reply> items;
  for (const char* const word : words) items.push_back(Reply::of_text(word));
  return Reply::of_array(std::move(items));
}

TEST(SentinelReplyTest, AnAddressIsAHostAndAPort) {
  EXPECT_EQ(read_master_address(texts({"10.0.0.1", "6379"})), (Address{"10.0.0.1", 6379}));
  for (const Reply& nonsense : {Reply{},
                                Reply::of_error("ERR"),
                                texts({"10.0.0.1"}),
                                texts({"10.0.0.1", "0"}),
                                texts({"10.0.0.1", "port"}),
                                texts({"", "6379"})}) {
    EXPECT_EQ(read_master_address(nonsense), std::nullopt);
  }
}

TEST(SentinelReplyTest, AMasterSaysSo) {
  EXPECT_TRUE(is_master(texts({"master", "0"})));
  EXPECT_FALSE(is_master(texts({"slave", "10.0.0.1"})));
  EXPECT_FALSE(is_master(Reply::of_error("NOPERM")));
  EXPECT_FALSE(is_master(Reply{}));
}

const Address kOld{"old", 1};
const Address kNew{"new", 2};

TEST(SentinelVotesTest, MoreThanHalfOfAllDecideAtOnce) {
  SentinelVotes votes{3};
  votes.count(kNew);
  EXPECT_EQ(votes.winner(), std::nullopt);
  votes.count(kNew);
  EXPECT_EQ(votes.winner(), kNew);
  EXPECT_FALSE(votes.complete());
}

TEST(SentinelVotesTest, OneThatIsBehindDoesNotDecide) {
  SentinelVotes votes{3};
  votes.count(kOld);
  EXPECT_EQ(votes.winner(), std::nullopt);
  votes.count(kNew);
  votes.count(kNew);
  EXPECT_EQ(votes.winner(), kNew);
}

TEST(SentinelVotesTest, WhenAllHaveAnsweredTheMostOfThoseThatNameOneDo) {
  SentinelVotes votes{3};
  votes.count(std::nullopt);
  votes.count(std::nullopt);
  EXPECT_EQ(votes.winner(), std::nullopt);
  votes.count(kOld);
  EXPECT_EQ(votes.winner(), kOld);
  SentinelVotes nobody{1};
  nobody.count(std::nullopt);
  EXPECT_TRUE(nobody.complete());
  EXPECT_EQ(nobody.winner(), std::nullopt);
}

}  // namespace
}  // namespace holdfast::redis
