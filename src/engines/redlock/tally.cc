#include "engines/redlock/tally.h"

#include <algorithm>

#include "base/assert.h"

namespace holdfast::redlock {

void Tally::granted(std::size_t node, Token grant) {
  Node& voter = votes_.at(node);
  HOLDFAST_ASSERT(voter.vote == Vote::none);
  voter = {Vote::granted, grant};
  if (!token_) choose();
  // Too late to be counted in: it must be confirmed like the rest, and cannot if it is above.
  if (token_ && grant == *token_) voter.vote = Vote::confirmed;
  if (token_ && grant > *token_) voter.vote = Vote::refused;
}

void Tally::refused(std::size_t node) { votes_.at(node).vote = Vote::refused; }
void Tally::confirmed(std::size_t node) { votes_.at(node).vote = Vote::confirmed; }
void Tally::not_confirmed(std::size_t node) { votes_.at(node).vote = Vote::refused; }

void Tally::choose() {
  if (count(Vote::granted) < majority(votes_.size())) return;
  Token highest{0};
  for (const Node& node : votes_) {
    if (node.vote == Vote::granted) highest = std::max(highest, node.grant);
  }
  token_ = highest;
  for (Node& node : votes_) {
    if (node.vote == Vote::granted && node.grant == highest) node.vote = Vote::confirmed;
  }
}

std::size_t Tally::count(Vote vote) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(votes_, [&](const Node& node) { return node.vote == vote; }));
}

std::vector<std::size_t> Tally::silent() const {
  std::vector<std::size_t> nodes;
  for (std::size_t node = 0; node < votes_.size(); ++node) {
    if (votes_[node].vote == Vote::none) nodes.push_back(node);
  }
  return nodes;
}

Tally::Stage Tally::stage() const {
  const std::size_t needed = majority(votes_.size());
  if (count(Vote::confirmed) >= needed) return Stage::held;
  if (votes_.size() - count(Vote::refused) < needed) return Stage::failed;
  return token_ ? Stage::confirming : Stage::taking;
}

std::vector<std::size_t> Tally::take_laggards() {
  std::vector<std::size_t> laggards;
  if (!token_) return laggards;
  for (std::size_t node = 0; node < votes_.size(); ++node) {
    if (votes_[node].vote != Vote::granted) continue;
    votes_[node].vote = Vote::asked;
    laggards.push_back(node);
  }
  return laggards;
}

}  // namespace holdfast::redlock
