#include "sim/network.h"

#include <gtest/gtest.h>

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

class NetworkTest : public testing::Test {
 protected:
  int deliver(int messages, Direction direction = Direction::request) {
    int arrived = 0;
    for (int i = 0; i < messages; ++i) network_.carry(link_, direction, [&] { ++arrived; });
    scheduler_.advance(1h);
    return arrived;
  }

  Scheduler scheduler_;
  Network network_{scheduler_, 1};
  Link link_;
};

TEST_F(NetworkTest, DeliversEverythingWithinItsDelaysWhenNothingIsWrong) {
  TimePoint arrived_at;
  network_.carry(link_, Direction::request, [&] { arrived_at = scheduler_.now(); });
  EXPECT_EQ(deliver(100), 100);
  EXPECT_GE(arrived_at, TimePoint{NetworkFaults{}.delay_min});
  EXPECT_LE(arrived_at, TimePoint{NetworkFaults{}.delay_max});
}

TEST_F(NetworkTest, LosesAsManyAsItWasTold) {
  link_.lose_requests = 2;
  link_.lose_replies = 1;
  EXPECT_EQ(deliver(5, Direction::request), 3);
  EXPECT_EQ(deliver(5, Direction::reply), 4);
  EXPECT_EQ(deliver(5, Direction::request), 5);
}

TEST_F(NetworkTest, LosesRequestsAndRepliesByChance) {
  network_.set_faults({.lose_request = {300}});
  const int arrived = deliver(1000, Direction::request);
  EXPECT_GT(arrived, 600);
  EXPECT_LT(arrived, 800);
  EXPECT_EQ(deliver(1000, Direction::reply), 1000);
}

TEST_F(NetworkTest, ACutLinkDeliversNothingNotEvenWhatIsUnderWay) {
  int arrived = 0;
  network_.carry(link_, Direction::reply, [&] { ++arrived; });
  link_.cut = true;
  EXPECT_EQ(deliver(10), 0);
  EXPECT_EQ(arrived, 0);
  link_.cut = false;
  EXPECT_EQ(deliver(10), 10);
}

}  // namespace
}  // namespace holdfast::sim
