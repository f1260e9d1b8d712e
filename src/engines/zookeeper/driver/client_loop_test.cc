#include "engines/zookeeper/driver/client_loop.h"

#include <gtest/gtest.h>

namespace holdfast::zookeeper {
namespace {

using namespace std::chrono_literals;

TEST(AttemptLimitTest, ASessionTriesSeveralServersBeforeItIsOver) {
  EXPECT_EQ(attempt_limit(5s, Millis{4000}, 0), 1s);
  EXPECT_EQ(attempt_limit(5s, Millis{4000}, 1), 2s);
  EXPECT_EQ(attempt_limit(5s, Millis{4000}, 9), 5s);
}

TEST(AttemptLimitTest, NeverLongerThanAsked) {
  EXPECT_EQ(attempt_limit(200ms, Millis{60000}, 0), 200ms);
  EXPECT_EQ(attempt_limit(5s, Millis{60000}, 4000), 5s);
}

}  // namespace
}  // namespace holdfast::zookeeper
