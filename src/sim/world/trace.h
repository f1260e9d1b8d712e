// Trace: what happened in a world, in order, and one number to compare runs by.
//
// An event is something that happened somewhere: a message left or arrived, a server ran a script,
// a task was granted a lock, a process was paused. Every run hashes its events; only a run that is
// to be looked at keeps them.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/clock.h"

namespace holdfast::sim {

/// A machine of the world: a client, a lock server, or the resource.
struct HostId {
  std::uint16_t index{0};
  friend constexpr auto operator<=>(HostId, HostId) = default;
};

enum class EventKind : std::uint8_t {
  // Of messages: host sent or got it, peer is the other end, number is the message's.
  sent,
  lost,
  repeated,
  arrived,
  // Of servers: host ran the request of that number.
  ran,
  // Of clients.
  asked,
  granted,
  refused,
  released,
  warned,
  // Of the resource.
  served,
  found_stale,
  // Of faults.
  paused,
  resumed,
  crashed,
  started,
  cut,
  mended,
  clock_changed,
  healed,
  // Of members of a cluster: the text says what became of the host.
  member_changed,
};

struct Event {
  TimePoint when{};
  EventKind kind{};
  HostId host{};
  HostId peer{};
  std::uint64_t number{0};
  std::string text{};
};

/// Thread safety: none.
class Trace {
 public:
  enum class Keep : std::uint8_t { nothing, events };

  explicit Trace(Keep keep = Keep::nothing) : keep_{keep} {}

  void note(TimePoint when,
            EventKind kind,
            HostId host,
            HostId peer = {},
            std::uint64_t number = 0,
            std::string_view text = {});

  bool keeps() const { return keep_ == Keep::events; }

  /// Adds words to the last event for whoever reads it. They do not count in the hash, so that a
  /// run that keeps nothing need not make them.
  void explain(std::string_view words);

  /// Equal for equal runs.
  std::uint64_t hash() const { return hash_; }
  std::uint64_t count() const { return count_; }
  const std::vector<Event>& events() const { return events_; }

 private:
  void mix(std::uint64_t word) {
    hash_ = (hash_ ^ word) * 0x9fb21c651e98df25;
    hash_ ^= hash_ >> 32;
  }

  Keep keep_;
  std::uint64_t hash_{0xcbf29ce484222325};
  std::uint64_t count_{0};
  std::vector<Event> events_;
};

}  // namespace holdfast::sim
