#include "sim/world/network.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "sim/world/sim_pipe.h"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

class NetworkTest : public testing::Test {
 protected:
  int deliver(int messages, Direction direction = Direction::request) {
    const HostId from = direction == Direction::request ? client_ : server_;
    const HostId to = direction == Direction::request ? server_ : client_;
    int arrived = 0;
    for (int i = 0; i < messages; ++i) {
      network_.carry(from, to, direction, network_.next_number(), [&] { ++arrived; });
    }
    scheduler_.advance(1h);
    return arrived;
  }

  Trace trace_{Trace::Keep::events};
  Scheduler scheduler_;
  Network network_{scheduler_, trace_, 1};
  HostId client_ = network_.add_host();
  HostId server_ = network_.add_host();
  HostId other_ = network_.add_host();
};

TEST_F(NetworkTest, DeliversEverythingWithinItsDelaysWhenNothingIsWrong) {
  TimePoint arrived_at;
  network_.carry(client_, server_, Direction::request, 1, [&] { arrived_at = scheduler_.now(); });
  EXPECT_EQ(deliver(100), 100);
  EXPECT_GE(arrived_at, TimePoint{NetworkFaults{}.delay_min});
  EXPECT_LE(arrived_at, TimePoint{NetworkFaults{}.delay_max});
}

TEST_F(NetworkTest, LosesAsManyAsItWasTold) {
  network_.way(client_, server_).lose_next = 2;
  network_.way(server_, client_).lose_next = 1;
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

TEST_F(NetworkTest, RepeatsRequestsAndNeverReplies) {
  network_.set_faults({.repeat = {200}});
  const int arrived = deliver(1000, Direction::request);
  EXPECT_GT(arrived, 1100);
  EXPECT_LT(arrived, 1300);
  EXPECT_EQ(deliver(1000, Direction::reply), 1000);
}

TEST_F(NetworkTest, MessagesOvertakeEachOther) {
  network_.set_faults({.slow_max = 1s, .slow = {300}});
  std::vector<int> order;
  for (int i = 0; i < 100; ++i) {
    network_.carry(client_, server_, Direction::request, 1, [&order, i] { order.push_back(i); });
  }
  scheduler_.advance(1h);
  EXPECT_EQ(order.size(), 100U);
  EXPECT_FALSE(std::ranges::is_sorted(order));
}

TEST_F(NetworkTest, ABlockedWayDeliversNothingNotEvenWhatIsUnderWay) {
  int arrived = 0;
  network_.carry(client_, server_, Direction::request, 1, [&] { ++arrived; });
  ++network_.way(client_, server_).blocked;
  EXPECT_EQ(deliver(10), 0);
  EXPECT_EQ(arrived, 0);
  EXPECT_EQ(deliver(10, Direction::reply), 10) << "the way back is open";
  --network_.way(client_, server_).blocked;
  EXPECT_EQ(deliver(10), 10);
}

TEST_F(NetworkTest, AClogHoldsMessagesBackAndThenLetsThemAllArrive) {
  network_.way(client_, server_).clogged_until = TimePoint{5s};
  std::vector<TimePoint> arrivals;
  for (int i = 0; i < 10; ++i) {
    network_.carry(
        client_, server_, Direction::request, 1, [&] { arrivals.push_back(scheduler_.now()); });
  }
  scheduler_.advance(4s);
  EXPECT_TRUE(arrivals.empty());
  scheduler_.advance(2s);
  EXPECT_EQ(arrivals.size(), 10U);
}

TEST_F(NetworkTest, EveryPairIsAWayOfItsOwn) {
  ++network_.way(other_, server_).blocked;
  ++network_.way(server_, other_).blocked;
  EXPECT_EQ(deliver(10), 10);
  EXPECT_EQ(deliver(10, Direction::reply), 10);
}

TEST_F(NetworkTest, ATraceTellsWhatBecameOfEachMessage) {
  network_.way(client_, server_).lose_next = 1;
  deliver(2);
  std::vector<EventKind> kinds;
  for (const Event& event : trace_.events()) kinds.push_back(event.kind);
  EXPECT_EQ(kinds,
            (std::vector{EventKind::sent, EventKind::lost, EventKind::sent, EventKind::arrived}));
}

TEST_F(NetworkTest, APipeDeliversInOrderWhatOvertookOthers) {
  const auto pipe =
      std::make_shared<SimPipe>(scheduler_, network_, client_, server_, Direction::request);
  std::vector<int> arrived;
  network_.way(client_, server_).lose_next = 1;
  for (int i = 0; i < 3; ++i) pipe->send(1, [&arrived, i] { arrived.push_back(i); });
  scheduler_.advance(100ms);
  EXPECT_TRUE(arrived.empty());
  scheduler_.advance(1min);
  EXPECT_EQ(arrived, (std::vector{0, 1, 2}));
}

/// What a message does when it arrives may need the pipe, and so keep it.
TEST_F(NetworkTest, WhatOvertookOthersInAPipeGoesWithItsWorld) {
  auto pipe = std::make_shared<SimPipe>(scheduler_, network_, client_, server_, Direction::request);
  const std::weak_ptr<SimPipe> left = pipe;
  network_.way(client_, server_).lose_next = 1;
  for (int i = 0; i < 2; ++i) pipe->send(1, [pipe] {});
  scheduler_.advance(100ms);
  pipe.reset();
  EXPECT_FALSE(left.expired());
  scheduler_.clear();
  EXPECT_TRUE(left.expired());
}

}  // namespace
}  // namespace holdfast::sim
