// Goal: a process may be killed after every single instruction of taking a permit: it has taken it
// or not, and everybody else goes on.
// Method: as single_step_test.cc, with a fresh key for each victim.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "engines/local/limit_table.h"
#include "engines/local/test_directory.h"

namespace holdfast::crash {
namespace {

using local::LimitFile;
using local::LimitTable;

constexpr TimePoint kNow{std::chrono::hours{1000}};

core::Take take_of_three() {
  return core::to_take({.rate = Rate::per_hour(1), .burst = 3}, {}).value();
}

class LimitStepTest : public ::testing::Test {
 protected:
  LimitTable open() { return LimitTable{LimitFile::open(directory_.path()).value()}; }

  /// A victim that is killed `steps` instructions after it began to take a permit of the key.
  /// Whether it was over by then.
  bool live_and_die(const std::string& key, std::size_t steps) {
    const core::Take take = take_of_three();
    const pid_t victim = fork();
    if (victim == 0) {
      LimitTable table = open();
      ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
      raise(SIGSTOP);
      (void)table.reserve(key, take, kNow);
      raise(SIGSTOP);
      _exit(0);
    }
    int status = 0;
    EXPECT_EQ(waitpid(victim, &status, 0), victim);
    EXPECT_TRUE(WIFSTOPPED(status));
    bool over = false;
    for (std::size_t step = 0; step < steps && !over; ++step) {
      EXPECT_EQ(ptrace(PTRACE_SINGLESTEP, victim, nullptr, nullptr), 0);
      EXPECT_EQ(waitpid(victim, &status, 0), victim);
      over = !WIFSTOPPED(status) || WSTOPSIG(status) == SIGSTOP;
    }
    kill(victim, SIGKILL);
    waitpid(victim, &status, 0);
    return over;
  }

  local::TestDirectory directory_;
};

TEST_F(LimitStepTest, AProcessKilledAnywhereHasTakenAPermitOrNot) {
  const char* asked = std::getenv("HOLDFAST_STRIDE");
  const std::size_t stride = asked == nullptr ? 1 : std::strtoull(asked, nullptr, 10);
  LimitTable table = open();
  for (const std::uint64_t used_before : {0, 1}) {
    int after = 0;
    bool over = false;
    for (std::size_t steps = 0; !over; steps += stride) {
      ASSERT_LT(steps, 50'000U);
      const std::string key = "key " + std::to_string(used_before) + ' ' + std::to_string(steps);
      for (std::uint64_t i = 0; i < used_before; ++i) {
        ASSERT_TRUE(table.reserve(key, take_of_three(), kNow)->allowed);
      }
      over = live_and_die(key, steps);
      const auto next = table.reserve(key, take_of_three(), kNow);
      ASSERT_TRUE(next && next->allowed);
      const std::uint64_t taken = 2 - used_before - next->remaining;
      ASSERT_LE(taken, 1U) << "after " << steps << " instructions";
      after += static_cast<int>(taken);
      // From the swap on it has.
      ASSERT_TRUE(after == 0 || taken == 1) << "after " << steps << " instructions";
    }
    EXPECT_GT(after, 0);
  }
}

}  // namespace
}  // namespace holdfast::crash
