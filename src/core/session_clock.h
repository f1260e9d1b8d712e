// When a session renews, is in jeopardy, or is lost: decisions only, no clock and no I/O.
//
// Thread safety: none; its user serialises the calls.

#pragma once

#include "holdfast/clock.h"
#include "holdfast/lease.h"

namespace holdfast::core {

/// The last request for a lease that its engine acknowledged.
struct Confirmation {
  TimePoint sent_at;
  /// The TTL counts from here: earlier than `sent_at` where an engine acknowledges a request before
  /// it is sure that the TTL began anew.
  TimePoint counts_from;

  Confirmation(TimePoint at) : sent_at{at}, counts_from{at} {}  // NOLINT: the usual case
  Confirmation(TimePoint sent, TimePoint counts) : sent_at{sent}, counts_from{counts} {}
};

class SessionClock {
 public:
  SessionClock(Confirmation granted, Duration ttl);

  /// An acknowledgement that is older than one already seen changes nothing.
  void renewed(Confirmation renewal, Duration ttl);

  /// No answer to a renewal: try again at `retry_at`.
  void renewal_failed(TimePoint retry_at);

  /// held: renewal is not overdue. jeopardy: it is, and the lease still stands. lost: past the
  /// deadline.
  LeaseState state(TimePoint now) const;

  /// A third of the TTL after the last acknowledged renewal, later after failures.
  TimePoint renew_at() const { return renew_at_; }
  /// From here on the lease is in jeopardy: two thirds of the TTL have passed, and half of it
  /// without an answer.
  TimePoint jeopardy_at() const;
  TimePoint deadline() const { return deadline_; }
  Duration ttl() const { return ttl_; }

 private:
  Duration ttl_;
  Confirmation confirmed_;
  TimePoint renew_at_;
  TimePoint deadline_;
};

}  // namespace holdfast::core
