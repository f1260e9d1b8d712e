#include "core/local_queue.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "sim/world/sim_env.h"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

class LocalQueueTest : public testing::Test {
 protected:
  /// One task that asked for its turn.
  struct Visit {
    std::optional<LocalQueue::Turn> turn;
    std::optional<Errc> refused;
    bool waiting() const { return !turn && !refused; }
  };
  using VisitPtr = std::shared_ptr<Visit>;

  VisitPtr enter(const std::string& name,
                 Mode mode = Mode::exclusive,
                 Duration patience = 1h,
                 std::stop_token stop = {}) {
    auto visit = std::make_shared<Visit>();
    env_->spawn(visit_into(*queue_, LockName{name}, mode, env_->now() + patience, stop, visit));
    scheduler_.advance(0s);
    return visit;
  }

  static Task<void> visit_into(LocalQueue& queue,
                               LockName name,
                               Mode mode,
                               TimePoint give_up_at,
                               std::stop_token stop,
                               VisitPtr visit) {
    auto turn = co_await queue.enter(std::move(name), mode, give_up_at, stop);
    if (turn) {
      visit->turn.emplace(*std::move(turn));
    } else {
      visit->refused = turn.error().code;
    }
  }

  void leave(const VisitPtr& visit) {
    visit->turn.reset();
    scheduler_.advance(0s);
  }

  sim::Scheduler scheduler_;
  std::optional<sim::SimEnv> env_{std::in_place, scheduler_, 1};
  std::optional<LocalQueue> queue_{std::in_place, *env_};
};

TEST_F(LocalQueueTest, OneTaskAtATimeInTheOrderOfArrival) {
  std::vector<VisitPtr> visits;
  for (int i = 0; i < 5; ++i) visits.push_back(enter("a"));
  for (std::size_t first = 0; first < visits.size(); ++first) {
    for (std::size_t i = first; i < visits.size(); ++i) {
      EXPECT_EQ(visits[i]->turn.has_value(), i == first) << i;
    }
    leave(visits[first]);
  }
  EXPECT_EQ(queue_->names(), 0U);
}

TEST_F(LocalQueueTest, ATurnTellsWhetherItWasWaitedFor) {
  const auto first = enter("a");
  const auto second = enter("a");
  const auto reader = enter("a", Mode::shared);
  leave(first);
  ASSERT_TRUE(second->turn && reader->turn);
  EXPECT_EQ(second->turn->met(), Met::others);
  EXPECT_EQ(reader->turn->met(), Met::nobody);
  EXPECT_EQ(enter("b")->turn->met(), Met::nobody);
}

TEST_F(LocalQueueTest, NamesDoNotWaitForEachOther) {
  const auto a = enter("a");
  const auto b = enter("b");
  EXPECT_TRUE(a->turn);
  EXPECT_TRUE(b->turn);
  EXPECT_EQ(queue_->names(), 2U);
}

TEST_F(LocalQueueTest, SharedAndPermitRequestsEnterAtOnce) {
  const auto writer = enter("a");
  EXPECT_TRUE(enter("a", Mode::shared)->turn);
  EXPECT_TRUE(enter("a", Mode::shared)->turn);
  EXPECT_TRUE(enter("a", Mode::permit)->turn);
  EXPECT_TRUE(enter("a")->waiting());
}

TEST_F(LocalQueueTest, ATimeoutLeavesNoTraceAndKeepsTheOrder) {
  const auto first = enter("a");
  const auto impatient = enter("a", Mode::exclusive, 5s);
  const auto patient = enter("a");
  scheduler_.advance(5s);
  EXPECT_EQ(impatient->refused, Errc::timeout);
  EXPECT_TRUE(patient->waiting());
  leave(first);
  EXPECT_TRUE(patient->turn);
  leave(patient);
  EXPECT_EQ(queue_->names(), 0U);
}

TEST_F(LocalQueueTest, CancellationLeavesNoTrace) {
  const auto first = enter("a");
  std::stop_source stop;
  const auto cancelled = enter("a", Mode::exclusive, 1h, stop.get_token());
  const auto last = enter("a");
  stop.request_stop();
  scheduler_.advance(0s);
  EXPECT_EQ(cancelled->refused, Errc::cancelled);
  leave(first);
  EXPECT_TRUE(last->turn);
}

TEST_F(LocalQueueTest, AStopRequestedBeforehandTakesNoTurn) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(enter("a", Mode::exclusive, 1h, stop.get_token())->refused, Errc::cancelled);
  EXPECT_EQ(queue_->names(), 0U);
}

TEST_F(LocalQueueTest, ATurnThatComesAtTheLastMomentIsTaken) {
  const auto first = enter("a");
  const auto second = enter("a", Mode::exclusive, 5s);
  env_->pause();
  scheduler_.advance(5s);
  first->turn.reset();
  env_->resume();
  scheduler_.advance(0s);
  EXPECT_TRUE(second->turn);
}

TEST_F(LocalQueueTest, ATurnMayOutliveTheQueue) {
  const auto first = enter("a");
  queue_.reset();
  leave(first);
  EXPECT_FALSE(first->turn);
}

TEST_F(LocalQueueTest, WaitingTasksUnwindWithTheirEnv) {
  const auto first = enter("a");
  const auto second = enter("a");
  EXPECT_EQ(second.use_count(), 2);
  env_->kill();
  EXPECT_EQ(second.use_count(), 1);
  first->turn.reset();
  EXPECT_EQ(queue_->names(), 0U);
}

}  // namespace
}  // namespace holdfast::core
