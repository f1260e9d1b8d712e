// Goal: under load, processes that are killed at random neither break exclusion, nor wedge a lock,
// nor make a token repeat or go back.
// Method: workers use a few locks and check each other on a shared board; the test kills one after
// the other, thousands of times.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <array>
#include <cstdlib>
#include <thread>

#include "engines/local/local_backend.h"
#include "engines/local/test_directory.h"
#include "tests/crash/storm.h"
#include "tests/crash/victim.h"

namespace holdfast::crash {
namespace {

// HOLDFAST_KILLS asks for a longer campaign.
const int kKills = [] {
  const char* asked = std::getenv("HOLDFAST_KILLS");
  return asked == nullptr ? HOLDFAST_STORM_KILLS : std::atoi(asked);
}();

class StormTest : public ::testing::Test {
 protected:
  void start(int worker) {
    pids_[static_cast<std::size_t>(worker)] =
        spawn({"--storm", directory_.path() + "/locks.d", board_path(), std::to_string(worker)});
  }
  // Ends the worker's life as it is now, noting first that it is to end.
  void end(int worker) {
    const pid_t pid = pids_[static_cast<std::size_t>(worker)];
    const std::uint64_t life =
        static_cast<std::uint64_t>(worker) * 1'000'000 + board_->lives[worker].load();
    board_->doomed[worker].store(life);
    kill(pid, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFSIGNALED(status)) << "a worker ended by itself: " << status;
  }
  std::string board_path() const { return directory_.path() + "/board"; }
  std::uint64_t entries() const {
    std::uint64_t sum = 0;
    for (const auto& lock : board_->locks) sum += lock.entries.load();
    return sum;
  }

  local::TestDirectory directory_;
  StormBoard* board_{map_board(board_path())};
  std::array<pid_t, kStormWorkers> pids_{};
};

TEST_F(StormTest, KilledAgainAndAgain) {
  for (int worker = 0; worker < kStormWorkers; ++worker) start(worker);
  for (int kills = 0; kills < kKills && !HasFatalFailure(); ++kills) {
    const int worker = kills % kStormWorkers;
    // Let some work be done between two deaths, however slow the machine.
    const std::uint64_t goal = entries() + static_cast<std::uint64_t>(1 + kills % 7);
    const TimePoint give_up = BootClock::now() + std::chrono::seconds{30};
    while (entries() < goal) {
      ASSERT_LT(BootClock::now(), give_up) << "nobody gets any lock after " << kills << " kills";
      std::this_thread::yield();
    }
    end(worker);
    start(worker);
  }
  for (int worker = 0; worker < kStormWorkers; ++worker) end(worker);
  EXPECT_EQ(board_->overlaps.load(), 0U);
  EXPECT_EQ(board_->tokens_not_rising.load(), 0U);
  EXPECT_EQ(board_->errors.load(), 0U);

  auto backend = local::open_backend(directory_.path() + "/locks.d");
  ASSERT_TRUE(backend.has_value()) << backend.error().message;
  for (int lock = 0; lock < kStormLocks; ++lock) {
    auto lease = (*backend)->acquire("lock" + std::to_string(lock), {}, {});
    ASSERT_TRUE(lease.has_value());
    EXPECT_GT((*lease)->token().value(), board_->locks[lock].newest_token.load());
    EXPECT_EQ((*lease)->release(), ReleaseOutcome::released);
  }
  std::printf("%d kills, %llu entries\n", kKills, static_cast<unsigned long long>(entries()));
}

}  // namespace
}  // namespace holdfast::crash
