// Session: one ZooKeeper session of this process, which all its locks of one TTL share.
//
// Thread safety: none; its user serialises the calls.

#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "base/alarm.h"
#include "core/session_clock.h"
#include "core/session_use.h"
#include "engines/zookeeper/session_line.h"
#include "engines/zookeeper/validity.h"
#include "holdfast/lease.h"

namespace holdfast::zookeeper {

class Session : public core::UsedSession {
 public:
  explicit Session(TimePoint now) : UsedSession{now} {}

  /// Set by whoever opens it.
  std::shared_ptr<SessionLine> line{};

  /// Whether it was ever there. Precondition of all that tells of its key and validity.
  bool is_made() const { return validity_.has_value(); }
  /// Whether it is at a server at present.
  bool is_connected() const { return connected_; }
  /// How often it was connected.
  std::size_t connections() const { return connections_; }

  const SessionKey& key() const { return key_; }
  /// As the server granted it.
  Millis ttl() const { return validity_->ttl(); }
  const Validity& validity() const { return *validity_; }
  core::Confirmation confirmation() const {
    return {validity_->confirmed_at(), validity_->counts_from()};
  }
  TimePoint valid_until() const { return validity_->valid_until(); }
  /// Its locks are renewed at a third of the TTL; when there are none, or they do not get round to
  /// it, it is kept alive from here on.
  TimePoint due_at() const {
    if (validity_->unconfirmed()) return TimePoint::min();
    return validity_->confirmed_at() + Duration{ttl()} * 2 / 5;
  }

  /// Whether another lock may rely on it: it stands, and its heartbeat is not overdue.
  bool is_fresh(TimePoint now) const;

  /// Whoever waits for its connection is woken by these three.
  void connect(const SessionEvent& event);
  void disconnect(Error why);
  void end_as(LossReason reason);

  void acknowledge(TimePoint sent_at, TimePoint answered_at);

  /// Why it is not at a server.
  const std::optional<Error>& trouble() const { return trouble_; }
  void refuse(Error why) { trouble_ = std::move(why); }

  /// Why it ended when the server does not know it any more: by itself if it was not kept alive in
  /// time, otherwise it was taken from us.
  LossReason explain_end(TimePoint now) const;

  /// Rung by every change of the connection, once.
  void await_change(std::shared_ptr<Alarm> alarm) { waiting_.push_back(std::move(alarm)); }

 private:
  void wake();

  SessionKey key_{};
  std::optional<Validity> validity_{};
  bool connected_{false};
  std::size_t connections_{0};
  std::optional<Error> trouble_{};
  std::vector<std::shared_ptr<Alarm>> waiting_{};
};

using SessionUse = core::SessionUse<Session>;

}  // namespace holdfast::zookeeper
