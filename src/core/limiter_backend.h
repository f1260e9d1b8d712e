// What the public RateLimiter asks of an engine: to take permits in one atomic step.

#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/gcra.h"
#include "holdfast/rate_limit.h"

namespace holdfast {

using ReserveCallback = RateLimiter::ReserveCallback;

/// One engine's limiter. Keys and what is asked reach it checked.
/// Thread safety: any thread.
class LimiterBackend {
 public:
  virtual ~LimiterBackend() = default;

  virtual Result<RateDecision> reserve(std::string_view key, const core::Take& take) = 0;

  /// Never blocks. The callback runs once, on a thread of the engine's or before this returns; it
  /// must not block.
  virtual void async_reserve(std::string key, const core::Take& take, ReserveCallback callback) = 0;
};

}  // namespace holdfast
