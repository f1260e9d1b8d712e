// Session: one lease of this process, which all its locks of one TTL share.
//
// Decisions only: no clock and no I/O. Thread safety: none; its user serialises the calls.

#pragma once

#include "core/session_use.h"
#include "engines/etcd/etcd_messages.h"
#include "holdfast/clock.h"
#include "holdfast/lease.h"

namespace holdfast::etcd {

class Session : public core::UsedSession {
 public:
  /// Granted by a request that left at `sent_at`.
  Session(LeaseId lease, Millis ttl, TimePoint sent_at)
      : UsedSession{sent_at}, lease_{lease}, ttl_{ttl}, confirmed_at_{sent_at} {}

  LeaseId lease() const { return lease_; }
  /// As the server granted it.
  Millis ttl() const { return ttl_; }

  /// When the last acknowledged request that made it or kept it alive left.
  TimePoint confirmed_at() const { return confirmed_at_; }
  /// From here on nothing may rely on it.
  TimePoint valid_until() const;
  /// Its locks are renewed at a third of the TTL; when there are none, or they do not get round to
  /// it, it is kept alive from here on.
  TimePoint due_at() const { return confirmed_at_ + Duration{ttl_} * 2 / 5; }

  /// Whether another lock may rely on it: it stands, and its renewal is not overdue.
  bool is_fresh(TimePoint now) const;

  /// The request that left at `sent_at` has kept it alive.
  void confirm(TimePoint sent_at);

  void end_as(LossReason reason) { set_end(reason); }

  /// Why it ended when the server does not know it any more: by itself if it was not kept alive in
  /// time, otherwise it was taken from us.
  LossReason explain_end(TimePoint now) const;

 private:
  LeaseId lease_;
  Millis ttl_;
  TimePoint confirmed_at_;
};

using SessionUse = core::SessionUse<Session>;

}  // namespace holdfast::etcd
