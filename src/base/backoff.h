// How long to wait before trying again: exponential, with full jitter.

#pragma once

#include <algorithm>
#include <cstdint>

#include "holdfast/clock.h"

namespace holdfast {

struct BackoffPolicy {
  /// Upper bound of the first delay; it doubles with every attempt.
  Duration first{std::chrono::milliseconds{50}};
  /// Upper bound of every delay.
  Duration max{std::chrono::seconds{2}};
};

/// What the delay after attempt number `attempt` (from 0) is drawn from: 0 up to this.
constexpr Duration backoff_bound(const BackoffPolicy& policy, std::uint32_t attempt) {
  Duration bound = std::min(policy.first, policy.max);
  for (; attempt > 0 && bound < policy.max; --attempt) {
    bound = bound > policy.max / 2 ? policy.max : bound * 2;
  }
  return bound;
}

/// The delay after attempt number `attempt`, given 64 random bits: uniform from 0 to the bound, so
/// that clients which failed together do not come back together.
constexpr Duration backoff_delay(const BackoffPolicy& policy,
                                 std::uint32_t attempt,
                                 std::uint64_t draw) {
  __extension__ using Wide = unsigned __int128;
  const auto bound = static_cast<std::uint64_t>(backoff_bound(policy, attempt).count());
  return Duration{static_cast<Duration::rep>(Wide{bound} * draw >> 64)};
}

}  // namespace holdfast
