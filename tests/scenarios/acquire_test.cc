// Asking for a lock when answers are lost, late or wrong.

#include <gtest/gtest.h>

#include "sim/world/world.h"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

class AcquireTest : public testing::Test {
 protected:
  AcquireTest() { world_.node().record_executions(); }

  std::size_t asked(std::string_view script) {
    std::size_t times = 0;
    for (const Execution& execution : world_.node().executions()) {
      if (execution.call.script->name == script) ++times;
    }
    return times;
  }

  World world_{/*seed=*/11};
  ClientId alice_ = world_.add_client("alice");
  ClientId bob_ = world_.add_client("bob");
};

TEST_F(AcquireTest, BusySaysWhoHoldsTheLockAndForHowLong) {
  const LeaseView lease = world_.must_acquire(alice_, "ledger", 10s);
  const Acquired refused = world_.acquire(bob_, "ledger", 10s);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::busy);
  ASSERT_TRUE(refused.error().holder);
  EXPECT_EQ(refused.error().holder->owner_fp, lease.owner().fingerprint());
  EXPECT_EQ(refused.error().holder->token, lease.token());
  EXPECT_GT(refused.error().holder->ttl, 9s);
}

// The first request runs at the server, its answer is lost, and the second gets what it granted.
TEST_F(AcquireTest, ALostAnswerIsSettledWithTheSameOwnerAndToken) {
  world_.lose_next_replies(alice_, 1);
  const LeaseView lease = world_.must_acquire(alice_, "ledger", 10s);
  EXPECT_EQ(asked("acquire"), 2U);
  const auto& runs = world_.node().executions();
  EXPECT_EQ(runs[0].reply, runs[1].reply);
  EXPECT_EQ(runs[0].call.args[0], runs[1].call.args[0]);
  EXPECT_EQ(world_.node().get("hf:ledger"),
            lease.owner().to_string() + ':' + std::to_string(lease.token().value()) + ':');
  // The lease counts from the second request, so the server's TTL must too.
  EXPECT_GT(world_.node().command({"PTTL", "hf:ledger"}).integer, 9900);
}

TEST_F(AcquireTest, ALostRequestIsSimplyRepeated) {
  world_.lose_next_requests(alice_, 3);
  world_.must_acquire(alice_, "ledger", 10s);
  EXPECT_EQ(asked("acquire"), 1U);
}

// Validity counts from the request that was answered, and the server's TTL began anew with it.
TEST_F(AcquireTest, ValidityIsCountedFromBeforeTheAnsweredRequestWasSent) {
  world_.set_faults({.delay_min = 100ms, .delay_max = 100ms});
  const TimePoint before = world_.now();
  const LeaseView lease = world_.must_acquire(alice_, "ledger", 10s);
  EXPECT_EQ(world_.now(), before + 200ms);
  EXPECT_EQ(lease.valid_until(), before + 10s - 102ms);
}

TEST_F(AcquireTest, WithoutAnyAnswerTheOutcomeIsUnknownAndNothingStaysBehind) {
  world_.lose_next_replies(alice_, 1000);
  const Acquired acquired = world_.acquire(alice_, "ledger", 60s);
  ASSERT_FALSE(acquired);
  EXPECT_EQ(acquired.error().code, Errc::unknown_outcome);
  world_.lose_next_replies(alice_, 0);
  world_.advance(2s);
  EXPECT_EQ(world_.node().get("hf:ledger"), std::nullopt);
  world_.must_acquire(bob_, "ledger", 10s);
}

TEST_F(AcquireTest, AServerThatIsDownIsUnavailable) {
  world_.node().stop();
  const Acquired acquired = world_.acquire(alice_, "ledger", 10s);
  ASSERT_FALSE(acquired);
  EXPECT_EQ(acquired.error().code, Errc::unavailable);
  EXPECT_FALSE(acquired.error().remedy().empty());
}

TEST_F(AcquireTest, AServerThatComesBackInTimeIsWaitedFor) {
  world_.node().stop();
  const auto answer = world_.start_acquire(alice_, "ledger", 10s);
  world_.advance(3s);
  EXPECT_FALSE(answer->has_value());
  world_.node().start(Data::kept);
  world_.advance(2s);
  ASSERT_TRUE(answer->has_value());
  EXPECT_TRUE((*answer)->has_value());
}

// The client sleeps between the grant and reading it, for longer than the lease lasts.
TEST_F(AcquireTest, AGrantReadAfterItsDeadlineIsNoLeaseAndIsReleased) {
  const auto answer = world_.start_acquire(alice_, "ledger", 60s);
  world_.advance(100us);
  world_.pause(alice_);
  world_.advance(59s + 500ms);
  ASSERT_NE(world_.node().get("hf:ledger"), std::nullopt);
  world_.resume(alice_);
  world_.advance(10ms);
  ASSERT_TRUE(answer->has_value());
  ASSERT_FALSE((*answer)->has_value());
  EXPECT_EQ((*answer)->error().code, Errc::timeout);
  EXPECT_EQ(world_.node().get("hf:ledger"), std::nullopt);
}

// Three tasks of one process: one request per name is at the server at a time.
TEST_F(AcquireTest, TasksOfOneProcessQueueBehindEachOther) {
  const LeaseView lease = world_.must_acquire(bob_, "ledger", 10s);
  const auto first = world_.start_acquire(alice_, "ledger", 10s, 1min);
  const auto second = world_.start_acquire(alice_, "ledger", 10s, 1min);
  const auto other = world_.start_acquire(alice_, "elsewhere", 10s, 1min);
  world_.advance(1s);
  EXPECT_TRUE(other->has_value());
  EXPECT_EQ(world_.node().command({"LINDEX", "{hf:ledger}\x01queue", "1"}), redis::Reply{});
  world_.release(bob_, lease);
  world_.advance(1s);
  EXPECT_TRUE(first->has_value());
  EXPECT_FALSE(second->has_value());
}

// No request of the waiter's own: its place was refreshed a while ago, and the next time is far.
TEST_F(AcquireTest, AReleasedLockIsHandedToTheFirstWhoWaits) {
  // From a first lease on a process listens, and asks once whether it is too late.
  world_.release(bob_, world_.must_acquire(bob_, "other", 60s));
  const LeaseView lease = world_.must_acquire(alice_, "ledger", 60s);
  const auto answer = world_.start_acquire(bob_, "ledger", 60s, 1min);
  world_.advance(5s);
  const std::size_t before = world_.node().executions().size();
  world_.release(alice_, lease);
  const TimePoint released_at = world_.now();
  world_.advance(10ms);
  ASSERT_TRUE(answer->has_value());
  ASSERT_TRUE((*answer)->has_value());
  EXPECT_GT((**answer)->token(), lease.token());
  const auto& executions = world_.node().executions();
  EXPECT_EQ(executions[before].call.script->name, "release");
  for (std::size_t i = before + 1; i < executions.size(); ++i) {
    EXPECT_EQ(executions[i].call.script->name, "signs") << "it holds it already";
  }
  EXPECT_LT((**answer)->valid_until(), released_at + 60s - 4s) << "counts from the last refresh";
}

TEST_F(AcquireTest, AMessageThatIsLostCostsOneRefresh) {
  const LeaseView lease = world_.must_acquire(alice_, "ledger", 9s);
  const auto answer = world_.start_acquire(bob_, "ledger", 9s, 1min);
  world_.advance(100ms);
  world_.lose_next_replies(bob_, 1);
  world_.release(alice_, lease);
  world_.advance(1s);
  EXPECT_FALSE(answer->has_value());
  world_.advance(2500ms);
  ASSERT_TRUE(answer->has_value());
  EXPECT_TRUE((*answer)->has_value());
}

TEST_F(AcquireTest, AHolderThatDiedIsNoticedByTheFirstWhoWaits) {
  const LeaseView lease = world_.must_acquire(alice_, "ledger", 10s);
  const auto answer = world_.start_acquire(bob_, "ledger", 60s, 10min);
  world_.advance(100ms);
  world_.kill(alice_);
  world_.advance(9s);
  EXPECT_FALSE(answer->has_value());
  world_.advance(1s);
  ASSERT_TRUE(answer->has_value());
  EXPECT_TRUE((*answer)->has_value());
}

TEST_F(AcquireTest, AWaiterThatDiedIsPassedOver) {
  const ClientId carol = world_.add_client("carol");
  const LeaseView lease = world_.must_acquire(alice_, "ledger", 60s);
  world_.start_acquire(bob_, "ledger", 2s, 10min);
  const auto answer = world_.start_acquire(carol, "ledger", 60s, 10min);
  world_.advance(100ms);
  world_.kill(bob_);
  world_.advance(3s);
  world_.release(alice_, lease);
  world_.advance(10ms);
  ASSERT_TRUE(answer->has_value());
  EXPECT_TRUE((*answer)->has_value());
}

TEST_F(AcquireTest, WhoWaitedInVainIsToldWhoHasItAndLeavesTheQueue) {
  const LeaseView lease = world_.must_acquire(alice_, "ledger", 60s);
  const auto answer = world_.start_acquire(bob_, "ledger", 60s, 5s);
  world_.advance(6s);
  ASSERT_TRUE(answer->has_value());
  EXPECT_EQ((*answer)->error().code, Errc::timeout);
  ASSERT_TRUE((*answer)->error().holder);
  EXPECT_EQ((*answer)->error().holder->token, lease.token());
  world_.release(alice_, lease);
  EXPECT_EQ(world_.node().get("hf:ledger"), std::nullopt);
}

// Nobody tells when a foreign client lets go.
TEST_F(AcquireTest, BehindAForeignHolderTheFirstLooksAgainBeforeLong) {
  world_.node().command({"SET", "hf:ledger", "theirs"});
  const auto answer = world_.start_acquire(alice_, "ledger", 60s, 10min);
  world_.advance(10s);
  const std::size_t asked_before = asked("acquire");
  EXPECT_LE(asked_before, 42U) << "every 250 ms, not more often";
  world_.node().command({"DEL", "hf:ledger"});
  world_.advance(300ms);
  ASSERT_TRUE(answer->has_value());
  EXPECT_TRUE((*answer)->has_value());
}

TEST_F(AcquireTest, AKeyOfAnotherTypeIsReportedAndLeftAlone) {
  world_.node().model().plant_foreign_type("hf:ledger");
  const Acquired acquired = world_.acquire(alice_, "ledger", 10s);
  ASSERT_FALSE(acquired);
  EXPECT_EQ(acquired.error().code, Errc::corrupt);
  EXPECT_NE(acquired.error().message.find("WRONGTYPE"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::sim
