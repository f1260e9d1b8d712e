// StoreRepetition: how often a store's request is asked, at a server that performs it in one step
// and knows it again by its id.
//
// A request that was not answered is repeated until its time is up: the effect comes once. What
// cannot be settled is unknown_outcome.
//
// Thread safety: as Env. Lifetime: the request outlives it.

#pragma once

#include <cstdint>
#include <optional>

#include "base/backoff.h"
#include "base/env.h"
#include "core/store_answer.h"

namespace holdfast::core {

/// Half of what a server remembers of requests and erased values. More counts as that.
inline constexpr Millis kRepetitionMax = std::chrono::minutes{5};

enum class Attempt : std::uint8_t {
  first,
  /// An earlier one may have been done.
  repeated,
};

class StoreRepetition {
 public:
  StoreRepetition(Env& env, const StoreRequest& request, Millis timeout, BackoffPolicy retry);

  TimePoint answer_by() const { return answer_by_; }
  /// What the next attempt is.
  Attempt attempt() const { return attempt_; }
  /// The same in every attempt.
  std::uint64_t id() const { return id_; }

  /// What came: an error when the server did not answer. Empty: ask again after delay().
  std::optional<StoreResult> take(Result<StoreAnswer> answer);
  Duration delay() const { return delay_; }

 private:
  Env& env_;
  const StoreRequest& request_;
  BackoffPolicy retry_;
  TimePoint answer_by_;
  std::uint64_t id_;
  Attempt attempt_{Attempt::first};
  std::uint32_t failures_{0};
  Duration delay_{};
};

}  // namespace holdfast::core
