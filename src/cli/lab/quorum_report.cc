#include "cli/lab/quorum_report.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>

namespace holdfast::cli {
namespace {

void print_table(Console& console, const lab::QuorumPlan& plan) {
  std::string heads = fmt::format("{:>5}{:>10}", "nodes", "majority");
  for (const double availability : plan.availabilities) {
    heads += fmt::format("{:>22}", fmt::format("each up {} %", availability));
  }
  console.print(console.paint(heads, Tone::faint));
  for (const int nodes : plan.nodes) {
    std::string line = fmt::format("{:>5}{:>10}", nodes, lab::majority_of(nodes));
    for (const double availability : plan.availabilities) {
      const double failure = lab::quorum_failure(nodes, availability / 100);
      line += fmt::format(
          "{:>10.1e}{:>12}", failure, lab::time_words(lab::down_seconds_a_year(failure)));
    }
    console.print(line);
  }
}

std::string in_words(int nodes, double availability) {
  const double failure = lab::quorum_failure(nodes, availability / 100);
  return fmt::format("{} {} of {} % each: no majority for {} a year, {:.1f} nines.",
                     nodes,
                     nodes == 1 ? "node" : "nodes",
                     availability,
                     lab::time_words(lab::down_seconds_a_year(failure)),
                     lab::nines(failure));
}

}  // namespace

void print(Console& console, const lab::QuorumPlan& plan) {
  console.print("How much of the time no majority is up, and how long that is in a year\n");
  print_table(console, plan);
  console.print("");
  for (const double availability : plan.availabilities) {
    console.print(in_words(plan.nodes[plan.nodes.size() / 2], availability));
  }
  console.print(
      "\nWithout a majority nobody is granted a lock: that is an outage, not two holders.\n"
      "An even number bears no more failures than one node fewer, and has one more that can fail.\n"
      "Assumed: nodes fail independently. What they share (a rack, a switch, a power line, a\n"
      "rollout, an operator) fails for all at once; its own unavailability comes on top.");
}

boost::json::object to_json(const lab::QuorumPlan& plan) {
  boost::json::array majorities;
  for (const int nodes : plan.nodes) {
    for (const double availability : plan.availabilities) {
      const double failure = lab::quorum_failure(nodes, availability / 100);
      majorities.push_back(
          boost::json::object{{"nodes", nodes},
                              {"majority", lab::majority_of(nodes)},
                              {"spare", lab::spare_nodes(nodes)},
                              {"availability_percent", availability},
                              {"failure", failure},
                              {"nines", lab::nines(failure)},
                              {"down_s_a_year", lab::down_seconds_a_year(failure)}});
    }
  }
  return {{"demo", "quorum"}, {"majorities", std::move(majorities)}};
}

}  // namespace holdfast::cli
