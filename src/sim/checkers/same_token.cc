#include "sim/checkers/same_token.h"

#include <algorithm>

#include "sim/checkers/lock_order.h"
#include "sim/checkers/sentence.h"

namespace holdfast::sim {
namespace {

/// The grants of one lock that stand at one server: one at most, if the server does its work.
using Standing = std::vector<const NodeStep*>;

Violation another_token(const NodeStep& before, const NodeStep& after) {
  return {"T3",
          sentence("lock ",
                   after.lock,
                   ": node ",
                   after.node,
                   " gave ",
                   after.owner,
                   " ",
                   after.grant,
                   " at ",
                   after.at,
                   " by its clock, while its ",
                   before.grant,
                   " stood until ",
                   before.until)};
}

void take_step(Standing& standing, const NodeStep& step, Violations& found) {
  std::erase_if(standing, [&](const NodeStep* grant) {
    return grant->era != step.era || grant->until <= step.at;
  });
  const auto mine = std::find_if(standing.begin(), standing.end(), [&](const NodeStep* grant) {
    return grant->owner == step.owner;
  });
  if (step.kind == NodeStep::Kind::removed) {
    if (mine != standing.end()) standing.erase(mine);
    return;
  }
  if (mine == standing.end()) {
    standing.push_back(&step);
    return;
  }
  if ((*mine)->grant != step.grant) found.push_back(another_token(**mine, step));
  *mine = &step;
}

}  // namespace

Violations check_same_token(const History& history) {
  Violations found;
  std::size_t nodes = 0;
  for (const NodeStep& step : history.node_steps) nodes = std::max(nodes, step.node + 1);
  std::vector<Standing> standing;
  for (const NodeStep& step : history.node_steps) {
    if (step.kind == NodeStep::Kind::granted && step.grant == Token{0}) continue;
    take_step(state_of(standing, step.lock * nodes + step.node), step, found);
  }
  return found;
}

}  // namespace holdfast::sim
