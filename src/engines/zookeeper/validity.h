// Validity: how long a ZooKeeper session may be relied on, by our own clock alone.
//
// A server that is no leader hears of a session and tells the leader, which lets sessions end, only
// when the leader pings it, every half tick. That the leader has answered a sync therefore does not
// mean that it knows of the session's being alive then; but when it answers a later one, it knows
// that the session was alive when the earlier one was sent. So validity counts from the last
// acknowledged sync that was answered well before another acknowledged one was sent. A connection
// is told to the leader at once, and counts from when it was asked for.
//
// Decisions only: no clock and no I/O. Thread safety: none; its user serialises the calls.

#pragma once

#include <deque>

#include "holdfast/clock.h"

namespace holdfast::zookeeper {

class Validity {
 public:
  /// `ttl`: as the server granted it.
  Validity(TimePoint asked_at, Millis ttl);

  /// Again, by a connection that was asked for at `asked_at`.
  void connected(TimePoint asked_at);
  /// What was sent to that server says nothing about what the next one hears.
  void disconnected() { acknowledged_.clear(); }
  /// A sync over the present connection.
  void acknowledged(TimePoint sent_at, TimePoint answered_at);

  Millis ttl() const { return ttl_; }
  /// The TTL counts from here.
  TimePoint counts_from() const { return counts_from_; }
  /// When the last acknowledged request left.
  TimePoint confirmed_at() const { return confirmed_at_; }
  /// From here on nothing may rely on the session.
  TimePoint valid_until() const;
  /// A sync that is sent from here on shows that the last one reached the leader.
  TimePoint worth_at() const;

 private:
  struct Sync {
    TimePoint sent_at;
    TimePoint answered_at;
  };

  Millis ttl_;
  TimePoint counts_from_;
  TimePoint confirmed_at_;
  /// The latest, the oldest first.
  std::deque<Sync> acknowledged_;
};

}  // namespace holdfast::zookeeper
