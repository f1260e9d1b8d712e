// Waiting: first come, first served, whatever happens to those ahead.

#include "tests/contract/contract.h"

namespace holdfast::contract {
namespace {

/// Actors that wait for a lock, in the order of the vector.
struct Line {
  std::vector<std::unique_ptr<Actor>> actors;
  std::vector<PendingAnswer> answers;
};

class QueueContract : public ContractTest {
 protected:
  Line line_up(std::size_t count, const AcquireOptions& options = {}) {
    Line line;
    for (std::size_t i = 0; i < count; ++i) {
      line.actors.push_back(actor());
      line.answers.push_back(line.actors.back()->begin_acquire("lease", "x", options));
      EXPECT_TRUE(wait_for_waiters("x", i + 1));
    }
    return line;
  }
};

HOLDFAST_CONTRACT(QueueContract);

TEST_P(QueueContract, FirstComeFirstServedAcrossProcesses) {
  if (!serves_in_order()) return;
  auto held = client().acquire("x");
  ASSERT_TRUE(held);
  Line line = line_up(4);
  held->release();
  Token last = held->token();
  for (std::size_t i = 0; i < line.actors.size(); ++i) {
    const Answer answer = line.answers[i].get();
    ASSERT_TRUE(answer.granted()) << answer.message;
    EXPECT_GT(answer.token, last);
    last = answer.token;
    for (std::size_t later = i + 1; later < line.actors.size(); ++later) {
      EXPECT_FALSE(line.answers[later].is_ready());
    }
    EXPECT_EQ(line.actors[i]->release("lease"), "released");
  }
}

TEST_P(QueueContract, NewcomerDoesNotOvertake) {
  if (!serves_in_order()) return;
  auto held = client().acquire("x");
  ASSERT_TRUE(held);
  Line line = line_up(1);
  line.actors[0]->pause();
  held->release();
  // Whether or not the first in line has been granted the lock in its sleep: it is its turn.
  EXPECT_EQ(client().try_acquire("x").error().code, Errc::busy);
  line.actors[0]->resume();
  EXPECT_TRUE(line.answers[0].get().granted());
}

// A server may take the dead for living a moment longer, and give one of them the lock: it comes
// free by its TTL then, and who waits looks by those of others. So all of them are short.
TEST_P(QueueContract, DeadWaiterIsPassedOver) {
  auto held = client().acquire("x", {.ttl = GetParam().ttl_of_the_dying});
  ASSERT_TRUE(held);
  Line line = line_up(3, {.ttl = GetParam().ttl_of_the_dying});
  line.actors[0]->kill();
  line.actors[1]->kill();
  held->release();
  EXPECT_TRUE(line.answers[2].get().granted());
}

TEST_P(QueueContract, WaiterThatDiesInTheMiddleBreaksNothing) {
  if (!serves_in_order()) return;
  auto held = client().acquire("x");
  ASSERT_TRUE(held);
  Line line = line_up(3, {.ttl = GetParam().ttl_of_the_dying});
  line.actors[1]->kill();
  ASSERT_TRUE(wait_for_waiters("x", 2));
  held->release();
  const Answer first = line.answers[0].get();
  ASSERT_TRUE(first.granted());
  EXPECT_FALSE(line.answers[2].is_ready());
  line.actors[0]->release("lease");
  EXPECT_GT(line.answers[2].get().token, first.token);
}

TEST_P(QueueContract, PausedWaiterIsPassedOverAfterItsTtlAndServedWhenItWakes) {
  auto held = client().acquire("x");
  ASSERT_TRUE(held);
  Line line = line_up(2, {.ttl = 300ms});
  line.actors[0]->pause();
  held->release();
  const Answer second = line.answers[1].get();
  ASSERT_TRUE(second.granted()) << second.message;
  line.actors[0]->resume();
  ASSERT_TRUE(wait_for_waiters("x", 1));
  EXPECT_FALSE(line.answers[0].is_ready());
  EXPECT_TRUE(line.actors[1]->view("lease").ensure_held);
  EXPECT_EQ(line.actors[1]->release("lease"), "released");
  const Answer first = line.answers[0].get();
  ASSERT_TRUE(first.granted()) << first.message;
  EXPECT_GT(first.token, second.token);
  EXPECT_TRUE(line.actors[0]->view("lease").ensure_held);
}

TEST_P(QueueContract, CancelledWaiterLeavesTheLine) {
  if (!serves_in_order()) return;
  auto held = client().acquire("x");
  ASSERT_TRUE(held);
  Line line = line_up(3);
  line.actors[0]->cancel("lease");
  EXPECT_EQ(line.answers[0].get().code, Errc::cancelled);
  EXPECT_TRUE(wait_for_waiters("x", 2));
  held->release();
  EXPECT_TRUE(line.answers[1].get().granted());
  line.actors[1]->release("lease");
  EXPECT_TRUE(line.answers[2].get().granted());
}

TEST_P(QueueContract, HolderThatDiesPassesTheLockOn) {
  Line line;
  line.actors.push_back(actor());
  const Answer first = line.actors[0]->acquire("lease", "x", {.ttl = GetParam().ttl_of_the_dying});
  ASSERT_TRUE(first.granted());
  auto next = actor();
  PendingAnswer answer = next->begin_acquire("lease", "x");
  ASSERT_TRUE(wait_for_waiters("x", 1));
  line.actors[0]->kill();
  EXPECT_GT(answer.get().token, first.token);
}

TEST_P(QueueContract, WaitingLongerThanTheTtlKeepsThePlace) {
  auto held = client().acquire("x");
  ASSERT_TRUE(held);
  Line line = line_up(1, {.ttl = 200ms});
  // One more waiter, which gives up after many TTLs of the first.
  EXPECT_EQ(client().acquire("x", {.wait = 1s}).error().code, Errc::timeout);
  EXPECT_EQ(client().inspect("x")->waiters.size(), 1u);
  held->release();
  EXPECT_TRUE(line.answers[0].get().granted());
}

}  // namespace
}  // namespace holdfast::contract
