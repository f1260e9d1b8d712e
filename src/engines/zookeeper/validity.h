// Validity: how long a ZooKeeper session may be relied on, by our own clock alone.
//
// A server that is no leader hears of a session and tells the leader, which lets sessions end, only
// when the leader asks, every half tick. That a heartbeat was answered therefore does not mean that
// the leader knew of it. But when another one, sent more than half a tick after that answer and
// over the same connection, is answered with the consent of a majority, the leader leads and knew
// of the first; so validity counts from there. A connection is told to the leader at once: it
// counts from when it was asked for, as soon as a heartbeat over it was answered. A new session has
// the consent of a majority itself. docs/internals/zookeeper_model.md has the proof.
//
// Decisions only: no clock and no I/O. Thread safety: none; its user serialises the calls.

#pragma once

#include <deque>
#include <optional>

#include "holdfast/clock.h"

namespace holdfast::zookeeper {

class Validity {
 public:
  /// `ttl`: as the server granted it.
  Validity(TimePoint asked_at, Millis ttl);

  /// Again, by a connection that was asked for at `asked_at`.
  void connected(TimePoint asked_at);
  /// What was sent to that server says nothing about what the next one hears.
  void disconnected();
  /// A heartbeat over the present connection.
  void acknowledged(TimePoint sent_at, TimePoint answered_at);

  Millis ttl() const { return ttl_; }
  /// The TTL counts from here.
  TimePoint counts_from() const { return counts_from_; }
  /// When the last acknowledged request left.
  TimePoint confirmed_at() const { return confirmed_at_; }
  /// From here on nothing may rely on the session.
  TimePoint valid_until() const;
  /// A heartbeat that is sent from here on shows that the leader knew of the last one.
  TimePoint worth_at() const;
  /// Whether a connection waits for its first heartbeat.
  bool unconfirmed() const { return reconnected_at_.has_value(); }

 private:
  struct Beat {
    TimePoint sent_at;
    TimePoint answered_at;
  };

  Millis ttl_;
  TimePoint counts_from_;
  TimePoint confirmed_at_;
  /// The latest, the oldest first.
  std::deque<Beat> acknowledged_;
  /// When the present connection was asked for, until that counts.
  std::optional<TimePoint> reconnected_at_;
};

}  // namespace holdfast::zookeeper
