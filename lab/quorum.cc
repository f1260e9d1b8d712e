#include "lab/quorum.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/assert.h"

namespace holdfast::lab {
namespace {

constexpr double kMinute = 60;
constexpr double kHour = 60 * kMinute;
constexpr double kDay = 24 * kHour;

// A whole number after every step.
double ways_to_choose(int of, int chosen) {
  double ways = 1;
  for (int i = 1; i <= chosen; ++i) ways = ways * (of - chosen + i) / i;
  return ways;
}

}  // namespace

double quorum_failure(int nodes, double availability) {
  HOLDFAST_ASSERT(nodes >= 1);
  HOLDFAST_ASSERT(nodes <= kQuorumNodesMax);
  HOLDFAST_ASSERT(availability > 0);
  HOLDFAST_ASSERT(availability < 1);
  const double unavailability = 1 - availability;
  double failure = 0;
  // From all down to the fewest that matter: of good nodes, the largest term is the last.
  for (int down = nodes; down > spare_nodes(nodes); --down) {
    failure += ways_to_choose(nodes, down) * std::pow(unavailability, down) *
               std::pow(availability, nodes - down);
  }
  return std::min(failure, 1.0);
}

double nines(double failure) { return -std::log10(failure); }

double down_seconds_a_year(double failure) { return failure * 365.25 * kDay; }

std::string time_words(double seconds) {
  if (seconds >= 2 * kDay) return fmt::format("{:.1f} days", seconds / kDay);
  if (seconds >= 2 * kHour) return fmt::format("{:.1f} h", seconds / kHour);
  if (seconds >= 2 * kMinute) return fmt::format("{:.0f} min", seconds / kMinute);
  if (seconds >= 1) return fmt::format("{:.0f} s", seconds);
  if (seconds >= 0.001) return fmt::format("{:.0f} ms", seconds * 1000);
  return "under 1 ms";
}

std::vector<double> quorum_failures(const QuorumPlan& plan, double availability) {
  std::vector<double> failures;
  for (const int nodes : plan.nodes) failures.push_back(quorum_failure(nodes, availability / 100));
  return failures;
}

}  // namespace holdfast::lab
