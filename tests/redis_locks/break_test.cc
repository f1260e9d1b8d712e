// A lease that is ended by force is lost at once, long before its renewal is due.

#include "tests/redis_locks/locks_bed.h"

namespace holdfast::redis_locks {
namespace {

class BreakTest : public LocksBed {
 protected:
  /// How many processes hear of leases that are ended by force.
  std::int64_t listeners() {
    return command({"PUBSUB",
                    "NUMSUB",
                    "hf:\x01"
                    "break"})
        .items.at(1)
        .integer;
  }

  Client operator_ = connect();
};

TEST_F(BreakTest, TheHolderIsTold) {
  const auto lease = client_.acquire("x", {.ttl = 10min});
  const auto other = client_.acquire("y", {.ttl = 10min});
  ASSERT_TRUE(lease && other);
  ASSERT_TRUE(eventually([&] { return listeners() == 1; }));
  ASSERT_TRUE(operator_.break_lock("x", "test"));
  ASSERT_TRUE(eventually([&] { return is_lost(*lease); }));
  EXPECT_EQ(lease->loss_reason(), LossReason::broken);
  EXPECT_TRUE(other->ensure_held());
}

TEST_F(BreakTest, EveryReaderIsTold) {
  const auto first = client_.acquire("x", {.mode = Mode::shared, .ttl = 10min});
  Client another = connect();
  const auto second = another.acquire("x", {.mode = Mode::shared, .ttl = 10min});
  ASSERT_TRUE(first && second);
  ASSERT_TRUE(eventually([&] { return listeners() == 2; }));
  EXPECT_EQ(operator_.break_lock("x", "test")->holders.size(), 2U);
  ASSERT_TRUE(eventually([&] { return is_lost(*first) && is_lost(*second); }));
  EXPECT_EQ(first->loss_reason(), LossReason::broken);
  EXPECT_EQ(second->loss_reason(), LossReason::broken);
}

TEST_F(BreakTest, AMessageThatIsLostCostsARenewal) {
  const auto lease = client_.acquire("x", {.ttl = 10min});
  ASSERT_TRUE(lease);
  ASSERT_TRUE(eventually([&] { return listeners() == 1; }));
  command({"CLIENT", "KILL", "TYPE", "pubsub"});
  ASSERT_TRUE(operator_.break_lock("x", "test"));
  ASSERT_TRUE(eventually([&] { return is_lost(*lease); })) << "it asks when it hears again";
  EXPECT_EQ(lease->loss_reason(), LossReason::broken);
}

TEST_F(BreakTest, AHolderThatDoesNotListenYetIsToldWhenItDoes) {
  for (int round = 0; round < 20; ++round) {
    Client beginner = connect();
    const auto lease = beginner.acquire("x", {.ttl = 10min});
    ASSERT_TRUE(lease);
    ASSERT_TRUE(operator_.break_lock("x", "test"));
    ASSERT_TRUE(eventually([&] { return is_lost(*lease); })) << "in round " << round;
    EXPECT_EQ(lease->loss_reason(), LossReason::broken);
  }
}

TEST_F(BreakTest, ADelayIsEndedToo) {
  auto lease =
      client_.acquire("x", {.ttl = 100ms, .kind = LeaseKind::detached, .lock_delay = 10min});
  ASSERT_TRUE(lease);
  ASSERT_TRUE(lease->detach());
  ASSERT_TRUE(eventually([&] { return client_.inspect("x")->delay > 0ms; }));
  EXPECT_EQ(client_.try_acquire("x").error().code, Errc::busy);
  ASSERT_TRUE(operator_.break_lock("x", "test"));
  EXPECT_TRUE(client_.try_acquire("x"));
}

}  // namespace
}  // namespace holdfast::redis_locks
