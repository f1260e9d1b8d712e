#include "engines/redlock/sight.h"

#include <gtest/gtest.h>

namespace holdfast::redlock {
namespace {

using namespace std::chrono_literals;

const LockName kName{"x"};
const std::string kAlice = "00112233445566778899aabbccddeeff";
const std::string kBob = "ffeeddccbbaa99887766554433221100";

Sight of(const std::string& owner, const std::string& grant, const std::string& counter) {
  return {.value = owner + ":" + grant + ":", .left = 500ms, .counter = counter};
}

TEST(SightTest, WhoHasAMajorityHoldsIt) {
  const LockInfo info =
      merge_sights(kName, {of(kAlice, "4", "4"), of(kAlice, "4", "4"), of(kBob, "9", "9")}, 3);
  ASSERT_EQ(info.holders.size(), 1U);
  EXPECT_EQ(info.holders[0].token, Token{4});
  EXPECT_EQ(info.holders[0].owner_fp, Owner::parse(kAlice)->fingerprint());
}

TEST(SightTest, APartIsNothingUnlessTheRestIsUnseen) {
  const std::vector<Sight> one{of(kAlice, "4", "4"), {}};
  EXPECT_TRUE(merge_sights(kName, {one[0], one[1], {}}, 3).holders.empty());
  EXPECT_EQ(merge_sights(kName, one, 3).holders.size(), 1U);
}

TEST(SightTest, TheTokenIsWhatMostNodesHaveComeTo) {
  const LockInfo info =
      merge_sights(kName, {of(kAlice, "3", "7"), of(kAlice, "7", "7"), of(kAlice, "9", "9")}, 3);
  EXPECT_EQ(info.holders.at(0).token, Token{7});
}

TEST(SightTest, EachWhoWaitsIsSeenOnce) {
  Sight first;
  first.waiters[kBob].label = "second";
  const LockInfo info = merge_sights(kName, {first, first, {}}, 3);
  ASSERT_EQ(info.waiters.size(), 1U);
  EXPECT_EQ(info.waiters[0].label, "second");
}

}  // namespace
}  // namespace holdfast::redlock
