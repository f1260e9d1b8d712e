// `holdfast lab naive`: many processes increment a counter under a lock that looks first and takes
// it then, and under Holdfast's.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/result.h"
#include "lab/message.h"

namespace holdfast::lab {

inline constexpr std::int64_t kProcessesMax = 64;
inline constexpr std::int64_t kRoundsMax = 10'000;

struct NaiveRun {
  Guard guard{Guard::holdfast};
  /// Increments per process.
  std::int64_t rounds{0};
  /// How many runs it took until an update was lost; for Holdfast 1.
  int runs{1};
  /// Accepted increments of each process.
  std::vector<std::int64_t> accepted{};
  std::int64_t final_value{0};

  std::int64_t attempted() const;
  std::int64_t lost() const { return attempted() - final_value; }
};

std::string_view to_string(Guard guard);

struct NaiveReport {
  NaiveRun naive{};
  NaiveRun holdfast{};

  /// What is not as it must be, for people. Empty: all is.
  std::vector<std::string> differences() const;
};

struct NaiveOptions {
  std::string engine;
  std::int64_t processes{4};
  std::int64_t rounds{100};
  int interrupt{-1};
};

/// The naive run is repeated, each time twice as long up to kRoundsMax, until it lost something or
/// had its chances.
Result<NaiveReport> run_naive(const NaiveOptions& options,
                              const std::function<void(const std::string&)>& progress);

}  // namespace holdfast::lab
