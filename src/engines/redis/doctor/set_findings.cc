#include "engines/redis/doctor/set_findings.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "engines/redis/doctor/node_findings.h"

namespace holdfast::redis {
namespace {

using core::Findings;
using core::Severity;
using namespace std::chrono_literals;

constexpr Duration kClocksMax = 500ms;

}  // namespace

Findings reach_findings(const std::vector<ExaminedNode>& nodes) {
  Findings found;
  const auto missing = std::ranges::count_if(nodes, [](const auto& node) { return !node.facts; });
  const bool majority_left = 2 * missing < static_cast<std::ptrdiff_t>(nodes.size());
  for (const ExaminedNode& node : nodes) {
    if (node.facts) continue;
    found.push_back({"unreachable",
                     majority_left ? Severity::warning : Severity::danger,
                     node.node + " cannot be asked: " + node.facts.error().message +
                         (majority_left ? "; fewer further nodes may fail"
                                        : "; without a majority nobody gets a lock"),
                     "start it, or correct its address"});
  }
  return found;
}

Findings identity_findings(const std::vector<ExaminedNode>& nodes) {
  Findings found;
  std::map<std::string, std::string, std::less<>> known;
  for (const ExaminedNode& node : nodes) {
    if (!node.facts) continue;
    const std::string run{node.facts->info_of("run_id")};
    if (run.empty()) continue;
    const auto [first, is_new] = known.emplace(run, node.node);
    if (is_new) continue;
    found.push_back({"same_server",
                     Severity::danger,
                     first->second + " and " + node.node +
                         " are the same server: it counts twice, and "
                         "what looks like a majority is none",
                     "name each server once"});
  }
  return found;
}

Findings fingerprint_findings(const std::vector<ExaminedNode>& nodes) {
  Findings found;
  std::string agreed;
  std::string agreed_by;
  for (const ExaminedNode& node : nodes) {
    if (!node.facts) continue;
    const auto& fingerprint = node.facts->fingerprint;
    if (!fingerprint) {
      found.push_back({"not_initialised",
                       Severity::danger,
                       node.node +
                           " does not know the set it belongs to: clients with different lists "
                           "of nodes would not notice each other",
                       "holdfast redlock init, or after lost data: holdfast redlock rejoin"});
    } else if (agreed_by.empty()) {
      agreed = *fingerprint;
      agreed_by = node.node;
    } else if (*fingerprint != agreed) {
      found.push_back({"sets_differ",
                       Severity::danger,
                       node.node + " belongs to another set than " + agreed_by +
                           ": two majorities that do not meet can give the same lock twice",
                       "the same list of nodes everywhere, then holdfast redlock init"});
    }
  }
  return found;
}

Findings clocks_findings(const std::vector<ExaminedNode>& nodes) {
  const ExaminedNode* first = nullptr;
  const ExaminedNode* last = nullptr;
  const auto ahead = [](const ExaminedNode* node) { return node->facts->clock_ahead; };
  for (const ExaminedNode& node : nodes) {
    if (!node.facts) continue;
    if (first == nullptr || ahead(&node) < ahead(first)) first = &node;
    if (last == nullptr || ahead(&node) > ahead(last)) last = &node;
  }
  if (first == last) return {};
  const Duration apart =
      ahead(last) - ahead(first) - first->facts->clock_error - last->facts->clock_error;
  if (apart < kClocksMax) return {};
  return {{"clocks_apart",
           Severity::warning,
           "the clocks of " + first->node + " and " + last->node + " are at least " +
               std::to_string(apart / 1ms) +
               " ms apart: one of them is not kept, and a step of it ends leases early",
           "keep all of them by NTP, for example: systemctl enable --now chrony"}};
}

Findings findings_of_set(const std::vector<ExaminedNode>& nodes) {
  Findings found;
  const auto add = [&](Findings part) { std::ranges::move(part, std::back_inserter(found)); };
  add(reach_findings(nodes));
  add(identity_findings(nodes));
  add(fingerprint_findings(nodes));
  add(clocks_findings(nodes));
  for (const ExaminedNode& node : nodes) {
    if (node.facts) add(findings_of(*node.facts, Trust::majority));
  }
  return found;
}

Findings findings_of_cluster(const std::vector<ExaminedNode>& masters) {
  Findings found;
  const auto add = [&](Findings part) { std::ranges::move(part, std::back_inserter(found)); };
  for (const ExaminedNode& master : masters) {
    if (master.facts) continue;
    found.push_back({"unreachable",
                     Severity::danger,
                     master.node + " cannot be asked: " + master.facts.error().message +
                         "; nobody gets the locks of its slots",
                     "start it, or let a replica take over: CLUSTER FAILOVER TAKEOVER"});
  }
  add(clocks_findings(masters));
  for (const ExaminedNode& master : masters) {
    if (master.facts) add(findings_of(*master.facts, Trust::itself));
  }
  return found;
}

}  // namespace holdfast::redis
