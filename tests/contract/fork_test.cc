// After fork() the child holds nothing and harms nobody.

#include <sys/wait.h>
#include <unistd.h>

#include "tests/contract/contract.h"

namespace holdfast::contract {
namespace {

/// Runs `child` in a forked process and returns what it returned, or -1 if it ended otherwise.
template <class Child>
int in_fork(Child child) {
  const pid_t pid = fork();
  if (pid == 0) _exit(child());
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

using ForkContract = ContractTest;
HOLDFAST_CONTRACT(ForkContract);

TEST_P(ForkContract, ChildHoldsNothing) {
  auto lease = client().acquire("x");
  ASSERT_TRUE(lease);
  EXPECT_EQ(in_fork([&] {
              if (lease->ensure_held()) return 1;
              if (lease->state() != LeaseState::lost) return 2;
              if (lease->loss_reason() != LossReason::abandoned) return 3;
              if (lease->release() == ReleaseOutcome::released) return 4;
              return 0;
            }),
            0);
  EXPECT_TRUE(lease->ensure_held());
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
}

TEST_P(ForkContract, ChildsDestructorReleasesNothing) {
  auto lease = client().acquire("x");
  ASSERT_TRUE(lease);
  EXPECT_EQ(in_fork([&] {
              { const Lease gone = std::move(*lease); }
              return 0;
            }),
            0);
  EXPECT_TRUE(lease->ensure_held());
  EXPECT_EQ(client().inspect("x")->holders.size(), 1u);
  EXPECT_EQ(reconnect().try_acquire("x").error().code, Errc::busy);
}

TEST_P(ForkContract, ChildsClientAnswersShuttingDown) {
  next_token("x");
  EXPECT_EQ(in_fork([&] {
              const auto lease = client().try_acquire("x");
              return lease ? 1 : lease.error().code == Errc::shutting_down ? 0 : 2;
            }),
            0);
}

// A child that took its parent's lock would let both in.
TEST_P(ForkContract, EndOfTheChildLeavesTheParentsLeaseAlone) {
  auto lease = client().acquire("x", {.ttl = 300ms});
  ASSERT_TRUE(lease);
  EXPECT_EQ(in_fork([] { return 0; }), 0);
  auto a = actor();
  EXPECT_EQ(a->acquire("lease", "x", {.wait = 1s}).code, Errc::timeout);
  EXPECT_TRUE(lease->ensure_held());
}

// The parent's death must count even while a child it forked lives on.
TEST_P(ForkContract, ParentsDeathFreesTheLockThoughItsChildLives) {
  auto a = actor();
  ASSERT_TRUE(a->acquire("lease", "x", {.ttl = GetParam().ttl_of_the_dying}).granted());
  ASSERT_EQ(a->ask({"fork", "lease"}).at(0), "forked");
  a->kill();
  EXPECT_TRUE(client().acquire("x", {.wait = kPatience}));
}

}  // namespace
}  // namespace holdfast::contract
