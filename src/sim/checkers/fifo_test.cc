#include "sim/checkers/fifo.h"

#include <gtest/gtest.h>

#include "sim/checkers/history_builder.h"

namespace holdfast::sim {
namespace {

TEST(FifoTest, AllowsAnswersInTheOrderOfTheRequests) {
  EXPECT_TRUE(check_fifo(three_sections()).empty());
  EXPECT_TRUE(check_fifo(history_of({grant(1, 0, 10, 20), denied(1, 10), denied(1, 30)})).empty());
}

TEST(FifoTest, FindsARequestThatOvertakesAnother) {
  const Violations found = check_fifo(history_of({grant(1, 0, 30, 40), grant(2, 1, 29, 30)}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].checker, "Q1");
  EXPECT_EQ(
      found[0].what,
      "lock 0: client 0 asked at 0 ms and at 1 ms, and had its answers at 30 ms and at 29 ms");
}

TEST(FifoTest, AllowsWhoHadLessPatienceToGoEarlier) {
  EXPECT_TRUE(check_fifo(history_of({grant(1, 0, 30, 40), denied(1, 29)})).empty());
}

TEST(FifoTest, TakesTheOrderOfTheHistoryForRequestsOfOneInstant) {
  EXPECT_TRUE(check_fifo(history_of({denied(0, 10), grant(1, 0, 20, 30)})).empty());
  EXPECT_EQ(check_fifo(history_of({denied(0, 20), grant(1, 0, 10, 30)})).size(), 1U);
}

TEST(FifoTest, ExcusesWhoTimedOutOrHasNoAnswer) {
  History history =
      history_of({denied(0, 30), grant(1, 1, 29, 30), waiting(2, 40), grant(2, 3, 31, 40)});
  history.acquisitions[0].answer_by = at(30);
  EXPECT_TRUE(check_fifo(history).empty());
  history.acquisitions[0].answer_by = at(31);
  EXPECT_EQ(check_fifo(history).size(), 1U);
}

TEST(FifoTest, TellsProcessesAndLocksApart) {
  const History one_queue = history_of({denied(0, 30), grant(1, 1, 29, 30)});
  History clients = one_queue;
  clients.acquisitions[1].client = 1;
  EXPECT_TRUE(check_fifo(clients).empty());
  History locks = one_queue;
  locks.acquisitions[1].lock = 1;
  EXPECT_TRUE(check_fifo(locks).empty());
  History incarnations = one_queue;
  incarnations.acquisitions[1].incarnation = 1;
  EXPECT_TRUE(check_fifo(incarnations).empty());
}

}  // namespace
}  // namespace holdfast::sim
