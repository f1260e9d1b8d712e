// How often no majority of nodes is up, where each node is up with the same probability and fails
// independently of the others. Pure.

#pragma once

#include <string>
#include <vector>

namespace holdfast::lab {

inline constexpr int kQuorumNodesMax = 99;

/// Half of them and one more.
constexpr int majority_of(int nodes) { return nodes / 2 + 1; }

/// How many may be down while a majority is up.
constexpr int spare_nodes(int nodes) { return nodes - majority_of(nodes); }

/// The probability that fewer than a majority of the nodes are up: the sum of its binomial terms,
/// no approximation. Precondition: 1 to kQuorumNodesMax nodes; 0 < availability < 1.
double quorum_failure(int nodes, double availability);

/// The nines of what fails with that probability: 3 for 0.001, and 3.7 for 0.0002.
double nines(double failure);

/// How long something is down in a year of 365.25 days if it is down with that probability.
double down_seconds_a_year(double failure);

/// A time as people say it: "3.7 days", "8.8 h", "53 min", "9 s", "315 ms", "under 1 ms".
std::string time_words(double seconds);

/// What was asked. Node counts rise.
struct QuorumPlan {
  std::vector<int> nodes;
  /// In percent.
  std::vector<double> availabilities;
};

/// The failure of each count, for one availability in percent.
std::vector<double> quorum_failures(const QuorumPlan& plan, double availability);

}  // namespace holdfast::lab
