// Session: one lease of this process, which all its locks of one TTL share.
//
// Decisions only: no clock and no I/O. Thread safety: none; its user serialises the calls.

#pragma once

#include <cstddef>
#include <memory>

#include "core/renewer.h"
#include "engines/etcd/etcd_messages.h"
#include "holdfast/clock.h"
#include "holdfast/lease.h"

namespace holdfast::etcd {

class Session {
 public:
  /// Granted by a request that left at `sent_at`.
  Session(LeaseId lease, Millis ttl, TimePoint sent_at)
      : lease_{lease}, ttl_{ttl}, confirmed_at_{sent_at}, used_at_{sent_at} {}

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

  /// Why it ended. LossReason::none while it stands.
  LossReason end() const { return end_; }
  bool is_over() const { return end_ != LossReason::none; }
  void end_as(LossReason reason);

  /// Why it ended when the server does not know it any more: by itself if it was not kept alive in
  /// time, otherwise it was taken from us.
  LossReason explain_end(TimePoint now) const;

  /// How many rely on it.
  std::size_t users() const { return users_; }
  /// When it was last seen in use.
  TimePoint used_at() const { return used_at_; }
  void note_use(TimePoint now) {
    if (users_ > 0) used_at_ = now;
  }

 private:
  friend class SessionUse;

  LeaseId lease_;
  Millis ttl_;
  TimePoint confirmed_at_;
  TimePoint used_at_;
  std::size_t users_{0};
  LossReason end_{LossReason::none};
};

/// The fate of a lock whose session ended so.
core::Fate fate_of(LossReason reason);

/// Counts as a user of the session for as long as it lives.
class SessionUse {
 public:
  SessionUse() = default;
  SessionUse(std::shared_ptr<Session> session, TimePoint now);
  SessionUse(SessionUse&&) noexcept = default;
  SessionUse& operator=(SessionUse&& other) noexcept;
  ~SessionUse() { let_go(); }

  explicit operator bool() const { return session_ != nullptr; }
  Session& operator*() const { return *session_; }
  Session* operator->() const { return session_.get(); }
  const std::shared_ptr<Session>& session() const { return session_; }

 private:
  void let_go() noexcept;

  std::shared_ptr<Session> session_;
};

}  // namespace holdfast::etcd
