// Network: messages between hosts, which it delays, reorders, repeats, holds back and loses.
//
// Every ordered pair of hosts is a way of its own: one may be blocked while the way back is open.
//
// Thread safety: none.

#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/world/chance.h"
#include "sim/world/scheduler.h"
#include "sim/world/trace.h"

namespace holdfast::sim {

/// What every way suffers from by chance.
struct NetworkFaults {
  Duration delay_min{std::chrono::microseconds{200}};
  Duration delay_max{std::chrono::milliseconds{2}};
  /// A message that is slow takes up to this long.
  Duration slow_max{std::chrono::seconds{3}};
  PerMille slow{};
  PerMille lose_request{};
  PerMille lose_reply{};
  /// Of requests: a second copy arrives later.
  PerMille repeat{};
};

enum class Direction : std::uint8_t { request, reply };

/// From one host to another.
struct Way {
  /// How many faults block it now: nothing gets through, not even what is under way.
  int blocked{0};
  /// Nothing arrives before.
  TimePoint clogged_until{};
  /// So many of the next messages are lost, whatever chance says.
  int lose_next{0};
};

/// The number of messages that belong to no request and its answer.
inline constexpr std::uint64_t kOfNoRequest = 0;

class Network {
 public:
  Network(Scheduler& scheduler, Trace& trace, std::uint64_t seed)
      : scheduler_{scheduler}, trace_{trace}, chance_{seed} {}

  HostId add_host();
  std::size_t hosts() const { return hosts_; }

  void set_faults(const NetworkFaults& faults) { faults_ = faults; }
  Way& way(HostId from, HostId to) { return ways_[place(from.index, to.index)]; }

  /// Every way is open again.
  void mend_all() { std::ranges::fill(ways_, Way{}); }

  /// Calls `arrive`, which can be copied, when the message arrives: once, twice or never. `number`
  /// is of the request that it is or answers.
  template <class Arrive>
  void carry(HostId from, HostId to, Direction direction, std::uint64_t number, Arrive arrive);

  Trace& trace() { return trace_; }
  TimePoint now() const { return scheduler_.now(); }

  /// Numbers a request; never kOfNoRequest.
  std::uint64_t next_number() { return ++last_number_; }

 private:
  /// Ways between the first n hosts come before all others, so that there is room for more.
  static std::size_t place(std::size_t from, std::size_t to) {
    const std::size_t ring = std::max(from, to);
    return ring * ring + (from < to ? from : ring + ring - to);
  }

  bool loses(Way& way, Direction direction);
  Duration delay(const Way& way);
  template <class Arrive>
  void deliver(HostId from, HostId to, std::uint64_t number, Arrive arrive);

  Scheduler& scheduler_;
  Trace& trace_;
  Chance chance_;
  NetworkFaults faults_{};
  std::size_t hosts_{0};
  std::vector<Way> ways_;
  std::uint64_t last_number_{0};
};

template <class Arrive>
void Network::deliver(HostId from, HostId to, std::uint64_t number, Arrive arrive) {
  const Duration after = delay(way(from, to));
  scheduler_.after(after, [this, from, to, number, arrive = std::move(arrive)]() mutable {
    const bool through = way(from, to).blocked == 0;
    trace_.note(scheduler_.now(), through ? EventKind::arrived : EventKind::lost, to, from, number);
    if (through) arrive();
  });
}

template <class Arrive>
void Network::carry(
    HostId from, HostId to, Direction direction, std::uint64_t number, Arrive arrive) {
  trace_.note(scheduler_.now(), EventKind::sent, from, to, number);
  const bool lost = loses(way(from, to), direction);
  const bool repeated = direction == Direction::request && chance_.happens(faults_.repeat);
  if (repeated) {
    trace_.note(scheduler_.now(), EventKind::repeated, from, to, number);
    deliver(from, to, number, arrive);
  }
  if (lost) {
    trace_.note(scheduler_.now(), EventKind::lost, to, from, number);
  } else {
    deliver(from, to, number, std::move(arrive));
  }
}

}  // namespace holdfast::sim
