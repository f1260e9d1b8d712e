#include "engines/redlock/tally.h"

#include <gtest/gtest.h>

namespace holdfast::redlock {
namespace {

using Stage = Tally::Stage;

TEST(TallyTest, MajorityIsMoreThanHalf) {
  EXPECT_EQ(majority(1), 1U);
  EXPECT_EQ(majority(2), 2U);
  EXPECT_EQ(majority(3), 2U);
  EXPECT_EQ(majority(4), 3U);
  EXPECT_EQ(majority(5), 3U);
}

TEST(TallyTest, NodesThatAgreeNeedOneRoundTrip) {
  Tally tally{3};
  tally.granted(0, Token{7});
  EXPECT_EQ(tally.stage(), Stage::taking);
  EXPECT_FALSE(tally.token());
  tally.granted(2, Token{7});
  EXPECT_EQ(tally.stage(), Stage::held);
  EXPECT_EQ(tally.token(), Token{7});
  EXPECT_TRUE(tally.take_laggards().empty());
}

TEST(TallyTest, LaggardsConfirmTheHighest) {
  Tally tally{3};
  tally.granted(0, Token{7});
  tally.granted(1, Token{9});
  EXPECT_EQ(tally.stage(), Stage::confirming);
  EXPECT_EQ(tally.token(), Token{9});
  EXPECT_EQ(tally.take_laggards(), std::vector<std::size_t>{0});
  EXPECT_TRUE(tally.take_laggards().empty());
  tally.confirmed(0);
  EXPECT_EQ(tally.stage(), Stage::held);
}

TEST(TallyTest, ALateGrantDoesNotChangeTheToken) {
  Tally tally{5};
  for (std::size_t node = 0; node < 3; ++node) tally.granted(node, Token{node + 1});
  ASSERT_EQ(tally.token(), Token{3});
  tally.granted(3, Token{8});
  EXPECT_EQ(tally.token(), Token{3});
  tally.granted(4, Token{2});
  EXPECT_EQ(tally.take_laggards(), (std::vector<std::size_t>{0, 1, 4}));
  tally.not_confirmed(0);
  EXPECT_EQ(tally.stage(), Stage::confirming);
  tally.confirmed(1);
  tally.confirmed(4);
  EXPECT_EQ(tally.stage(), Stage::held);
}

TEST(TallyTest, AMinorityThatRefusesDoesNotMatter) {
  Tally tally{5};
  tally.refused(0);
  tally.refused(1);
  EXPECT_EQ(tally.stage(), Stage::taking);
  for (std::size_t node = 2; node < 5; ++node) tally.granted(node, Token{4});
  EXPECT_EQ(tally.stage(), Stage::held);
}

TEST(TallyTest, AMajorityThatRefusesEndsTheAttempt) {
  Tally tally{3};
  tally.refused(0);
  tally.granted(1, Token{1});
  EXPECT_EQ(tally.stage(), Stage::taking);
  tally.refused(2);
  EXPECT_EQ(tally.stage(), Stage::failed);
}

TEST(TallyTest, AConfirmationThatFailsEndsTheAttempt) {
  Tally tally{3};
  tally.refused(2);
  tally.granted(0, Token{1});
  tally.granted(1, Token{2});
  ASSERT_EQ(tally.take_laggards(), std::vector<std::size_t>{0});
  tally.not_confirmed(0);
  EXPECT_EQ(tally.stage(), Stage::failed);
}

}  // namespace
}  // namespace holdfast::redlock
