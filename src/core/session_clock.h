// When a session renews, is in jeopardy, or is lost: decisions only, no clock and no I/O.
//
// Thread safety: none; its user serialises the calls.

#pragma once

#include "holdfast/clock.h"
#include "holdfast/lease.h"

namespace holdfast::core {

class SessionClock {
 public:
  /// A session granted by a request that left at `sent_at`.
  SessionClock(TimePoint sent_at, Duration ttl);

  /// The engine acknowledged the renewal that left at `sent_at`. An acknowledgement that is older
  /// than one already seen changes nothing.
  void renewed(TimePoint sent_at, Duration ttl);

  /// No answer to a renewal: try again at `retry_at`.
  void renewal_failed(TimePoint retry_at);

  /// held: renewal is not overdue. jeopardy: it is, and the lease still stands. lost: past the
  /// deadline.
  LeaseState state(TimePoint now) const;

  /// A third of the TTL after the last acknowledged renewal, later after failures.
  TimePoint renew_at() const { return renew_at_; }
  /// From here on the lease is in jeopardy: two thirds of the TTL have passed without an answer.
  TimePoint jeopardy_at() const;
  TimePoint deadline() const { return deadline_; }
  Duration ttl() const { return ttl_; }

 private:
  Duration ttl_;
  TimePoint sent_at_;
  TimePoint renew_at_;
  TimePoint deadline_;
};

}  // namespace holdfast::core
