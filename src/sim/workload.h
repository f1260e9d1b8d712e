// Workload: what the clients of a seed's world do, and the history of it.
//
// Every task takes a lock, reads, thinks and writes the value it guards, and gives the lock up,
// until told to stop; or all of them are candidates of one election, and the one that leads acts as
// long as it may. After the world is healed, everybody is to get every lock once more.
//
// Thread safety: none. The world and the history outlive it.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/mutants/mutant.h"
#include "sim/world/history.h"
#include "sim/world/world.h"

namespace holdfast::sim {

inline constexpr std::array<std::string_view, 2> kLocks{"lock0", "lock1"};

/// What the clients take locks for.
enum class Work : std::uint8_t {
  /// Short sections: read, think, write.
  sections,
  /// One election: whoever leads acts until its work has to end, or steps down now and then.
  election,
};

/// How long before the end of its lease a leader of an election stops.
constexpr Duration kLeadersGrace = std::chrono::milliseconds{200};

struct Manner {
  Millis ttl{1000};
  Pace pace{};
  Habits habits{Habits::careful};
  Register resource{Register::fenced};
  Work work{Work::sections};
};

class Workload {
 public:
  Workload(World& world, const Manner& manner, History& history);

  /// Begins the tasks of a client that has just started.
  void start(ClientId client);

  /// No task begins anything new.
  void stop() { stopping_ = true; }
  /// Whether every task of every living client has ended.
  bool idle() const;

  /// Everybody asks for every lock.
  void demand_progress();

  /// Completes the history with what became of each lease.
  void close(const std::function<TimePoint(std::size_t, std::uint32_t)>& crashed_at);

 private:
  struct Section;

  Task<void> work(ClientId client, Chance chance);
  Task<void> hold(ClientId client, std::size_t acquisition, Chance& chance);
  Task<void> lead(ClientId client, std::size_t acquisition, Chance& chance);
  Task<Result<RegisterAnswer>> operate(ClientId client, Section& section, Verb verb);
  Task<void> ask_for_all(ClientId client);
  Task<bool> take(ClientId client, std::size_t lock, std::size_t acquisition, Duration patience);
  Task<void> give_up(ClientId client, std::size_t acquisition);

  std::size_t begin_acquisition(ClientId client, std::size_t lock, Duration patience);
  void end_acquisition(std::size_t acquisition, const Acquired& acquired);
  bool may_go_on(std::size_t acquisition) const;

  World& world_;
  Manner manner_;
  History& history_;
  bool stopping_{false};
  std::uint64_t last_value_{0};
  /// Of each acquisition, once granted.
  std::vector<std::optional<LeaseView>> leases_;
  /// For each client, how many tasks of its present life have not ended.
  std::vector<int> busy_;
};

}  // namespace holdfast::sim
