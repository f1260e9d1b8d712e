#include "core/session_clock.h"

#include <algorithm>

#include "core/validity.h"

namespace holdfast::core {

SessionClock::SessionClock(Confirmation granted, Duration ttl)
    : ttl_{ttl},
      confirmed_{granted},
      renew_at_{granted.sent_at + ttl / 3},
      deadline_{deadline_of(granted.counts_from, ttl)} {}

void SessionClock::renewed(Confirmation renewal, Duration ttl) {
  if (renewal.sent_at <= confirmed_.sent_at) return;
  *this = SessionClock{renewal, ttl};
}

void SessionClock::renewal_failed(TimePoint retry_at) {
  renew_at_ = std::clamp(retry_at, renew_at_, std::max(renew_at_, deadline_));
}

TimePoint SessionClock::jeopardy_at() const {
  const TimePoint overdue = confirmed_.sent_at + ttl_ / 2;
  return std::min(std::max(confirmed_.counts_from + ttl_ * 2 / 3, overdue), deadline_);
}

LeaseState SessionClock::state(TimePoint now) const {
  if (now >= deadline_) return LeaseState::lost;
  return now >= jeopardy_at() ? LeaseState::jeopardy : LeaseState::held;
}

}  // namespace holdfast::core
