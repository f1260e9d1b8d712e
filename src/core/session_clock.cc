#include "core/session_clock.h"

#include <algorithm>

#include "core/validity.h"

namespace holdfast::core {

SessionClock::SessionClock(TimePoint sent_at, Duration ttl)
    : ttl_{ttl},
      sent_at_{sent_at},
      renew_at_{sent_at + ttl / 3},
      deadline_{deadline_of(sent_at, ttl)} {}

void SessionClock::renewed(TimePoint sent_at, Duration ttl) {
  if (sent_at <= sent_at_) return;
  *this = SessionClock{sent_at, ttl};
}

void SessionClock::renewal_failed(TimePoint retry_at) {
  renew_at_ = std::clamp(retry_at, renew_at_, std::max(renew_at_, deadline_));
}

TimePoint SessionClock::jeopardy_at() const { return std::min(sent_at_ + ttl_ * 2 / 3, deadline_); }

LeaseState SessionClock::state(TimePoint now) const {
  if (now >= deadline_) return LeaseState::lost;
  return now >= jeopardy_at() ? LeaseState::jeopardy : LeaseState::held;
}

}  // namespace holdfast::core
