// Locks on a model etcd: scripted stories, among them the pitfalls that others fell into.

#include <gtest/gtest.h>

#include "sim/seed_run.h"
#include "sim/world/world.h"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

WorldOptions etcd_of(std::size_t members) {
  return {.engine =
              [](Env& env, Ports ports) {
                return find_protocol("etcd")->make(env, std::move(ports), Pace{});
              },
          .servers = ServerKind::etcd,
          .nodes = members};
}

class EtcdTest : public testing::Test {
 protected:
  /// The keys of all who want the lock, the first to come first.
  std::vector<etcd::KeyValue> contenders() {
    const etcd::Range range{.keys = etcd::starting_with("hf/ledger/"),
                            .order = etcd::Range::Order::oldest_first};
    return world_.etcd().commit(0, {.then = {range}})->answers.at(0).found;
  }

  void erase(const std::string& key) {
    ASSERT_TRUE(world_.etcd().commit(0, {.then = {etcd::Erase{.keys = {.key = key}}}}));
  }

  bool answered(const Awaited<Acquired>& answer, Duration within = 10s) {
    return world_.scheduler().run_until([&] { return answer->has_value(); }, within);
  }

  World world_{7, etcd_of(3)};
  ClientId alice_{world_.add_client("alice")};
  ClientId bob_{world_.add_client("bob")};
  ClientId carol_{world_.add_client("carol")};
};

TEST_F(EtcdTest, ATokenIsTheRevisionThatCreatedItsKey) {
  Token last{0};
  for (int round = 0; round < 6; ++round) {
    const ClientId client = round % 2 == 0 ? alice_ : bob_;
    const LeaseView lease = world_.must_acquire(client, "ledger", 10s);
    ASSERT_EQ(contenders().size(), 1U);
    EXPECT_EQ(lease.token().value(), static_cast<std::uint64_t>(contenders()[0].created));
    EXPECT_GT(lease.token(), last);
    last = lease.token();
    EXPECT_EQ(world_.release(client, lease), ReleaseOutcome::released);
  }
  EXPECT_TRUE(contenders().empty());
}

TEST_F(EtcdTest, AnotherLeaderTakesNothingAway) {
  const LeaseView lease = world_.must_acquire(alice_, "ledger", 10s);
  for (int round = 0; round < 5; ++round) {
    world_.etcd().change_leader();
    world_.advance(4s);
    EXPECT_EQ(lease.state(), LeaseState::held);
  }
  EXPECT_EQ(world_.release(alice_, lease), ReleaseOutcome::released);
}

TEST_F(EtcdTest, TheLossOfTheLeaderTakesNothingAway) {
  const LeaseView lease = world_.must_acquire(alice_, "ledger", 10s);
  world_.stop_node(0);
  world_.advance(20s);
  EXPECT_EQ(lease.state(), LeaseState::held);
  EXPECT_NE(world_.etcd().leader(), 0U);
}

TEST_F(EtcdTest, WithoutAMajorityAHolderIsToldAtItsDeadline) {
  const LeaseView lease = world_.must_acquire(alice_, "ledger", 10s);
  const TimePoint until = lease.valid_until();
  world_.stop_node(0);
  world_.stop_node(1);
  world_.advance(12s);
  EXPECT_EQ(lease.state(), LeaseState::lost);
  ASSERT_FALSE(lease.heard().empty());
  EXPECT_EQ(lease.heard().back().event.state, LeaseState::lost);
  EXPECT_LE(lease.heard().back().when, until + 10s);
  EXPECT_NE(world_.etcd().keys().find(contenders().at(0).key), nullptr)
      << "nobody else can have it meanwhile";
}

// Leases that were renewed elsewhere are taken away by a leader that was stuck (etcd 15247).
TEST_F(EtcdTest, WhoLosesALeaseToAStuckLeaderIsToldWhy) {
  const LeaseView lease = world_.must_acquire(alice_, "ledger", 10s);
  const auto stuck = world_.etcd().stick_leader();
  ASSERT_TRUE(stuck);
  world_.advance(11s);
  ASSERT_EQ(lease.state(), LeaseState::held);
  world_.etcd().go_on(*stuck);
  world_.advance(5s);
  EXPECT_EQ(lease.state(), LeaseState::lost);
  EXPECT_EQ(lease.loss_reason(), LossReason::revoked);
}

// A restore from backup takes revisions back, and tokens with them (etcd 16028).
TEST_F(EtcdTest, WhoHoldsALockNoticesARestoreFromBackup) {
  world_.etcd().back_up();
  const LeaseView lease = world_.must_acquire(alice_, "ledger", 10s);
  world_.etcd().restore();
  world_.advance(7s);
  EXPECT_EQ(lease.state(), LeaseState::lost);
  EXPECT_EQ(lease.loss_reason(), LossReason::rolled_back);
}

// A waiter whose lease had ended was granted the lock all the same (etcd 9921, 11456).
TEST_F(EtcdTest, AWaiterWhoseLeaseHasEndedIsNotGranted) {
  const LeaseView first = world_.must_acquire(alice_, "ledger", 10s);
  const auto waiting = world_.start_acquire(bob_, "ledger", 10s, 60s);
  world_.advance(1s);
  ASSERT_EQ(contenders().size(), 2U);
  const std::string key = contenders()[1].key;
  world_.pause(bob_);
  world_.advance(12s);
  ASSERT_EQ(contenders().size(), 1U) << "his lease has ended";
  EXPECT_EQ(world_.release(alice_, first), ReleaseOutcome::released);
  const LeaseView second = world_.must_acquire(carol_, "ledger", 10s);
  world_.resume(bob_);
  world_.advance(5s);
  EXPECT_FALSE(waiting->has_value()) << "carol holds it";
  EXPECT_EQ(world_.release(carol_, second), ReleaseOutcome::released);
  ASSERT_TRUE(answered(waiting));
  ASSERT_TRUE(**waiting);
  EXPECT_GT((**waiting)->token(), second.token());
}

// A waiter did not notice the end of its own place until the one before it left (etcd 19597).
TEST_F(EtcdTest, AWaiterNoticesThatItsOwnKeyIsGone) {
  const LeaseView held = world_.must_acquire(alice_, "ledger", 10s);
  const auto waiting = world_.start_acquire(bob_, "ledger", 10s, 60s);
  world_.advance(1s);
  ASSERT_EQ(contenders().size(), 2U);
  const etcd::Revision before = contenders()[1].created;
  erase(contenders()[1].key);
  world_.advance(3s);
  ASSERT_EQ(contenders().size(), 2U) << "he stands in line again";
  EXPECT_GT(contenders()[1].created, before);
  EXPECT_EQ(world_.release(alice_, held), ReleaseOutcome::released);
  ASSERT_TRUE(answered(waiting));
  EXPECT_TRUE(**waiting);
}

// Two mutexes of one session did not exclude each other (etcd 11364).
TEST_F(EtcdTest, TasksOfOneProcessExcludeEachOther) {
  const auto first = world_.start_acquire(alice_, "ledger", 10s, 60s);
  const auto second = world_.start_acquire(alice_, "ledger", 10s, 60s);
  world_.advance(1s);
  ASSERT_TRUE(first->has_value() && **first);
  EXPECT_FALSE(second->has_value());
  EXPECT_EQ(world_.release(alice_, ***first), ReleaseOutcome::released);
  ASSERT_TRUE(answered(second));
  ASSERT_TRUE(**second);
  EXPECT_GT((**second)->token(), (**first)->token());
}

// A watch that begins where the history was compacted ended the wait (etcd's Campaign).
TEST_F(EtcdTest, AWaiterOutlivesACompaction) {
  const LeaseView held = world_.must_acquire(alice_, "ledger", 10s);
  const auto waiting = world_.start_acquire(bob_, "ledger", 10s, 60s);
  world_.advance(1s);
  world_.cut_off(bob_);
  world_.advance(1s);
  EXPECT_EQ(world_.release(alice_, held), ReleaseOutcome::released);
  world_.release(carol_, world_.must_acquire(carol_, "other", 10s));
  world_.etcd().compact(world_.etcd().revision());
  world_.reconnect(bob_);
  ASSERT_TRUE(answered(waiting, 40s));
  EXPECT_TRUE(**waiting);
}

// The server says nothing of an erasure that was the last change to be compacted.
TEST_F(EtcdTest, AWaiterOutlivesACompactionThatTookTheErasureItWaitsFor) {
  const LeaseView held = world_.must_acquire(alice_, "ledger", 10s);
  const auto waiting = world_.start_acquire(bob_, "ledger", 10s, 60s);
  world_.advance(1s);
  world_.cut_off(bob_);
  world_.advance(1s);
  EXPECT_EQ(world_.release(alice_, held), ReleaseOutcome::released);
  world_.etcd().compact(world_.etcd().revision());
  world_.reconnect(bob_);
  ASSERT_TRUE(answered(waiting, 59s));
  EXPECT_TRUE(**waiting);
}

TEST_F(EtcdTest, ALostReplyIsSettledUnderTheSameKey) {
  world_.release(alice_, world_.must_acquire(alice_, "other", 10s));
  world_.lose_next_replies(alice_, 1);
  const LeaseView lease = world_.must_acquire(alice_, "ledger", 10s);
  ASSERT_EQ(contenders().size(), 1U);
  EXPECT_EQ(lease.token().value(), static_cast<std::uint64_t>(contenders()[0].created));
  world_.lose_next_replies(alice_, 1);
  EXPECT_EQ(world_.release(alice_, lease), ReleaseOutcome::released);
  EXPECT_TRUE(contenders().empty());
}

TEST_F(EtcdTest, ACrashedHoldersLockPassesOnWhenItsLeaseEnds) {
  world_.must_acquire(alice_, "ledger", 10s);
  const auto waiting = world_.start_acquire(bob_, "ledger", 10s, 60s);
  world_.advance(1s);
  world_.kill(alice_);
  world_.advance(8s);
  EXPECT_FALSE(waiting->has_value());
  ASSERT_TRUE(answered(waiting, 5s));
  EXPECT_TRUE(**waiting);
}

// Etcd's own clients leave an empty value and no mark of the acquisition.
TEST_F(EtcdTest, AForeignContenderIsWaitedForAndLeftAlone) {
  ASSERT_TRUE(world_.etcd().grant(0, {77}, 60s));
  ASSERT_TRUE(world_.etcd().commit(0, {.then = {etcd::Put{.key = "hf/ledger/4d", .lease = {77}}}}));
  EXPECT_EQ(world_.acquire(alice_, "ledger", 10s).error().code, Errc::busy);
  const auto waiting = world_.start_acquire(alice_, "ledger", 10s, 60s);
  world_.advance(5s);
  EXPECT_FALSE(waiting->has_value());
  ASSERT_TRUE(world_.etcd().revoke(0, {77}));
  ASSERT_TRUE(answered(waiting));
  EXPECT_TRUE(**waiting);
}

/// A world that once broke a promise.
struct Regression {
  std::uint64_t seed;
  std::string_view what;
};

class EtcdRegressionTest : public testing::TestWithParam<Regression> {};

TEST_P(EtcdRegressionTest, KeepsEveryPromise) {
  const SeedReport report = run_seed(GetParam().seed, {.protocol = find_protocol("etcd")});
  for (const Violation& violation : report.violations) {
    ADD_FAILURE() << GetParam().what << ": " << violation.checker << ": " << violation.what;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Seeds,
    EtcdRegressionTest,
    testing::Values(Regression{20, "a session that ended while it was made was used for ever"},
                    Regression{71, "a wait for a session did not end with the caller's patience"},
                    Regression{95, "leaving the line did not end with the caller's patience"}),
    [](const auto& param) { return "Seed" + std::to_string(param.param.seed); });

}  // namespace
}  // namespace holdfast::sim
