// What to make of a lock's measured times: which TTL, whether to lock at all, and what the engine
// can promise for it.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "holdfast/clock.h"
#include "holdfast/lock_times.h"

namespace holdfast::cli {

/// So many holds say something about the hundredth of them.
inline constexpr std::uint64_t kSamplesEnough = 100;

/// Below this share of acquisitions that had to wait, contention is low.
inline constexpr double kLowContention = 0.05;

struct Advice {
  /// "samples", "ttl", "lock", "waiting" or "engine".
  std::string topic;
  std::string text;
};

/// Of the acquisitions, how many had to wait. 0 to 1.
double contended_share(const LockTimes& times);

/// 5 to 10 times the 99th percentile of the holds, round, and within 1 s to 5 min: the lease is
/// renewed while it is held, so that a longer one only lets others wait longer after a crash.
Millis advised_ttl(Duration hold_p99);

/// `engine`: its URL.
std::vector<Advice> advise(const LockTimes& times, std::string_view engine);

}  // namespace holdfast::cli
