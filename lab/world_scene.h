// What a picture of a simulated world shows, from its trace. Pure.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "holdfast/clock.h"
#include "sim/seed_run.h"

namespace holdfast::lab {

/// As opposed to the events of a demonstration.
using WorldEvent = sim::Event;

/// While something was so at a host.
struct Stretch {
  sim::HostId host{};
  Duration from{0};
  Duration to{0};
};

/// While a client believed that it held a lock: from the grant until it gave the lock up, was told
/// of the loss, or crashed.
struct Holding {
  Stretch when{};
  std::string lock{};
  /// 0: the protocol has none.
  std::uint64_t token{0};
};

struct Letter {
  enum class Fate : std::uint8_t { arrived, lost };

  sim::HostId from{};
  sim::HostId to{};
  Duration sent{0};
  Duration ended{0};
  Fate fate{Fate::arrived};
  std::uint64_t number{0};
};

/// Two clients that both believed that they held a lock.
struct Conflict {
  std::size_t one{0};
  std::size_t other{0};
  Duration from{0};
  Duration to{0};
};

struct WorldScene {
  /// Of the first and of the last event that is shown.
  Duration begin{0};
  Duration end{0};
  /// What has not ended by then is shown up to here.
  Duration after{0};
  /// The part of the trace that is shown, and the whole.
  std::vector<WorldEvent> events{};
  std::size_t events_in_all{0};
  /// The locks that were held, in the order of their first grant.
  std::vector<std::string> locks{};
  std::vector<Holding> holdings{};
  std::vector<Stretch> pauses{};
  /// While a host was down.
  std::vector<Stretch> outages{};
  std::vector<Letter> letters{};
};

/// The last `events_max` events. What began before is shown from the beginning.
WorldScene make_world_scene(const sim::SeedReport& report, std::size_t events_max);

/// Indices are into `holdings`.
std::vector<Conflict> conflicts(const std::vector<Holding>& holdings);

}  // namespace holdfast::lab
