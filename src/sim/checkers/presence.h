// When clients ran and when they did not.

#pragma once

#include <cstddef>
#include <vector>

#include "sim/world/history.h"

namespace holdfast::sim {

/// When a client that was due to do something at `time` could do it.
TimePoint first_chance(const History& history, std::size_t client, TimePoint time);

/// How much of `span` a client was paused.
Duration paused_within(const History& history, std::size_t client, const Span& span);

/// Which calls ended with their process.
class Crashes {
 public:
  explicit Crashes(const History& history);

  /// Whether the caller died before the call returned.
  bool ended(const Acquisition& call) const {
    return call.outcome == Outcome::none && call.client < last_.size() &&
           call.called_at <= last_[call.client];
  }

  /// Whether the holder died before its release returned.
  bool ended_in_release(const Acquisition& lease) const {
    return lease.release_returned_at == kNever && lease.client < last_.size() &&
           lease.release_called_at <= last_[lease.client];
  }

 private:
  /// For each client, its last crash.
  std::vector<TimePoint> last_;
};

}  // namespace holdfast::sim
