#include "engines/redlock/node_set.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/decimal.h"

namespace holdfast::redlock {
namespace {

constexpr const char* kHowToJoin =
    "found the set with 'holdfast redlock init', or let a node that lost its data join again with "
    "'holdfast redlock rejoin'";

std::string verdict_on(const NodeView& node) {
  if (!node.answer) return "has not answered";
  if (!*node.answer) return node.answer->error().message;
  const Membership& membership = **node.answer;
  if (!membership.set) return "belongs to no set of nodes: it is new, or has lost its data";
  return "belongs to the set " + membership.set->id + " of " +
         std::to_string(membership.set->nodes) + " nodes, epoch " +
         std::to_string(membership.set->epoch);
}

Error with_verdicts(Error error, const std::vector<NodeView>& nodes) {
  for (const NodeView& node : nodes) {
    error.nodes.push_back({.node = node.name, .message = verdict_on(node)});
  }
  return error;
}

std::size_t answered(const std::vector<NodeView>& nodes) {
  return static_cast<std::size_t>(std::ranges::count_if(
      nodes, [](const NodeView& node) { return node.answer && node.answer->has_value(); }));
}

/// Two addresses of one node.
std::optional<Error> alias_among(const std::vector<NodeView>& nodes) {
  std::map<std::string, std::string> names;
  for (const NodeView& node : nodes) {
    if (!node.answer || !*node.answer || (**node.answer).member.empty()) continue;
    const auto [known, is_new] = names.emplace((**node.answer).member, node.name);
    if (is_new) continue;
    return Error{Errc::invalid_argument,
                 known->second + " and " + node.name + " are one and the same node",
                 "name every node once"};
  }
  return std::nullopt;
}

Error disagreement(const std::vector<NodeView>& nodes) {
  const std::size_t needed = majority(nodes.size());
  if (answered(nodes) < needed) {
    return {Errc::unavailable, "fewer than a majority of the nodes answered"};
  }
  return {Errc::unavailable, "no majority of the nodes belongs to one set", kHowToJoin};
}

}  // namespace

std::string NodeSet::text() const {
  return id + ' ' + std::to_string(nodes) + ' ' + std::to_string(epoch) + ' ' +
         std::to_string(longest_ttl.count());
}

std::optional<NodeSet> NodeSet::parse(std::string_view text) {
  std::array<std::string_view, 4> words{};
  for (std::string_view& word : words) {
    const std::size_t end = std::min(text.find(' '), text.size());
    word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  const auto nodes = parse_decimal<std::size_t>(words[1]);
  const auto epoch = parse_decimal<std::uint64_t>(words[2]);
  const auto ttl = parse_decimal<Millis::rep>(words[3]);
  if (words[0].empty() || !nodes || !epoch || !ttl || !text.empty()) return std::nullopt;
  return NodeSet{
      .id = std::string{words[0]}, .nodes = *nodes, .epoch = *epoch, .longest_ttl = Millis{*ttl}};
}

std::optional<Result<NodeSet>> agreed_set(const std::vector<NodeView>& nodes) {
  if (auto alias = alias_among(nodes)) {
    return Unexpected{with_verdicts(*std::move(alias), nodes)};
  }
  std::map<std::string, std::size_t> votes;
  bool complete = true;
  for (const NodeView& node : nodes) {
    complete = complete && node.answer;
    if (!node.answer || !*node.answer || !(**node.answer).set) continue;
    const NodeSet& set = *(**node.answer).set;
    if (++votes[set.text()] < majority(nodes.size())) continue;
    if (set.nodes == nodes.size()) return set;
    return Unexpected{
        with_verdicts({Errc::invalid_argument,
                       "the URL names " + std::to_string(nodes.size()) +
                           " nodes, and they belong to a set of " + std::to_string(set.nodes),
                       "name all nodes of the set and no other"},
                      nodes)};
  }
  if (!complete) return std::nullopt;
  return Unexpected{with_verdicts(disagreement(nodes), nodes)};
}

std::optional<LockName> Keys::lock_of(std::string_view key) const {
  if (!key.starts_with(prefix_)) return std::nullopt;
  std::string_view name = key.substr(prefix_.size());
  constexpr std::string_view kWaiters = "\x01waiters:";
  if (name.starts_with(kWaiters)) name.remove_prefix(kWaiters.size());
  if (name.empty() || name.find('\x01') != std::string_view::npos) return std::nullopt;
  return LockName{std::string{name}};
}

}  // namespace holdfast::redlock
