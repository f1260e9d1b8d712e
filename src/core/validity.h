// How long a grant may be relied upon: arithmetic of the local, pessimistic deadline.

#pragma once

#include "holdfast/clock.h"

namespace holdfast::core {

/// What two clocks may disagree by over one TTL: 1 % and 2 ms.
constexpr Duration drift_allowance(Duration ttl) {
  return ttl / 100 + std::chrono::milliseconds{2};
}

/// The deadline of a grant whose request left at `sent_at`: no server can have begun to count the
/// TTL earlier than that.
constexpr TimePoint deadline_of(TimePoint sent_at, Duration ttl) {
  return sent_at + ttl - drift_allowance(ttl);
}

}  // namespace holdfast::core
