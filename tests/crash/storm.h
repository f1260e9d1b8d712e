// Workers that use a few locks as hard as they can and check each other, to be killed at random.

#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace holdfast::crash {

inline constexpr int kStormLocks = 4;
inline constexpr int kStormWorkers = 6;

/// What the workers check each other by, in memory they share with the test.
struct StormBoard {
  struct Lock {
    /// The life (worker and number) that is inside, or 0.
    std::atomic<std::uint64_t> inside;
    std::atomic<std::uint64_t> newest_token;
    std::atomic<std::uint64_t> entries;
  };

  Lock locks[kStormLocks];
  /// The last life of each worker that the test has decided to end.
  std::atomic<std::uint64_t> doomed[kStormWorkers];
  std::atomic<std::uint64_t> overlaps;
  std::atomic<std::uint64_t> tokens_not_rising;
  std::atomic<std::uint64_t> errors;
  std::atomic<std::uint64_t> lives[kStormWorkers];
};

/// Maps the board kept in a file.
StormBoard* map_board(const std::string& path);

int run_storm_worker(const std::string& directory, const std::string& board, int worker);

}  // namespace holdfast::crash
