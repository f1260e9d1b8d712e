// What `holdfast lab sim` found out, as text for people and as JSON.

#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "cli/console.h"
#include "cli/lab/sim_arguments.h"
#include "sim/shrink.h"

namespace holdfast::cli {

/// A broken promise, and the shortest way to it.
struct Finding {
  std::uint64_t seed{0};
  sim::Shrunk shrunk{};
  std::string replay{};
};

struct SimReport {
  sim::SeedOptions options{};
  std::uint64_t first_seed{0};
  sim::Tally tally{};
  std::vector<Finding> findings{};
  /// What there is to be told event by event: the simplest finding, or the one seed. Without
  /// events when neither is there.
  sim::SeedReport told{};
  Duration took{0};
};

struct TimelineChoice {
  sim::Detail detail{sim::Detail::story};
  /// The last so many lines.
  std::size_t lines{0};
};

/// The one with the fewest faults, and of those the shortest. Null: there is none.
const Finding* simplest(const std::vector<Finding>& findings);
/// The simplest of each checker, in the order of their first seeds.
std::vector<const Finding*> simplest_of_each(const std::vector<Finding>& findings);

void print(Console& console, const SimReport& report);
void print_timeline(Console& console, const SimReport& report, const TimelineChoice& choice);

/// engine, mutant, seeds, first_seed, repeated, events, grants, losses, refused_stale, writes,
/// lost_updates, losing_seeds, faults{fault: seeds}, breaches{fault: n}, failing_seeds,
/// violations[]{checker, seed, what, faults[], stop_after, replay}, trace_hash.
boost::json::object to_json(const SimReport& report);

/// timeline[]{at_ms, words} of what is told.
boost::json::array timeline_json(const SimReport& report, sim::Detail detail);

/// Engines, faults and mutants.
void print_sim_list(Console& console);

/// 1234567 as "1 234 567".
std::string grouped(std::uint64_t number);

}  // namespace holdfast::cli
