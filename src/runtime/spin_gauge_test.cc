#include "runtime/spin_gauge.h"

#include <gtest/gtest.h>

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;

TEST(SpinGaugeTest, NobodyLooksBeforeAnAnswerWasQuick) {
  SpinGauge gauge{100us};
  EXPECT_FALSE(gauge.pays());
  gauge.slept(20us);
  gauge.slept(20us);
  EXPECT_TRUE(gauge.pays());
}

TEST(SpinGaugeTest, LateAnswersAreSleptFor) {
  SpinGauge gauge{100us};
  for (int i = 0; i < 10; ++i) gauge.found();
  gauge.missed();
  EXPECT_TRUE(gauge.pays()) << "one late answer is no habit";
  gauge.missed();
  EXPECT_FALSE(gauge.pays());
  for (int i = 0; i < 10; ++i) gauge.slept(5ms);
  EXPECT_FALSE(gauge.pays());
}

TEST(SpinGaugeTest, AServerThatBecomesQuickIsNoticedAsleep) {
  SpinGauge gauge{100us};
  for (int i = 0; i < 10; ++i) gauge.slept(5ms);
  gauge.slept(gauge.most());
  gauge.slept(gauge.most());
  EXPECT_TRUE(gauge.pays());
}

TEST(SpinGaugeTest, WhereOthersWantTheProcessorNobodyLooksForAWhile) {
  SpinGauge gauge{100us};
  for (int i = 0; i < 3; ++i) gauge.found();
  gauge.crowded();
  int slept = 0;
  for (; !gauge.pays() && slept < 10'000; ++slept) gauge.slept(20us);
  EXPECT_GE(slept, 100);
  EXPECT_TRUE(gauge.pays()) << "a crowd does not last for ever";
}

TEST(SpinGaugeTest, NobodyLooksWhoMayNot) {
  SpinGauge gauge{0us};
  for (int i = 0; i < 10; ++i) gauge.slept(0us);
  EXPECT_FALSE(gauge.pays());
}

TEST(SpinGaugeTest, TheEnvironmentSaysForHowLong) {
  EXPECT_GT(*longest_look(nullptr), 0us);
  EXPECT_EQ(*longest_look("0"), 0us);
  EXPECT_EQ(*longest_look("50"), 50us);
  for (const char* senseless : {"", "-1", "10001", "50us", "x"}) {
    const auto refused = longest_look(senseless);
    ASSERT_FALSE(refused) << senseless;
    EXPECT_EQ(refused.error().code, Errc::invalid_argument);
    EXPECT_NE(refused.error().message.find("HOLDFAST_SPIN_US"), std::string::npos);
  }
}

}  // namespace
}  // namespace holdfast::runtime
