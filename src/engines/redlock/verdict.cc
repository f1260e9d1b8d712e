#include "engines/redlock/verdict.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engines/redis/redis_reply.h"
#include "engines/redlock/node_set.h"
#include "engines/redlock/redlock_scripts.h"

namespace holdfast::redlock {
namespace {

/// One who stands in the way at some nodes.
struct InTheWay {
  std::size_t nodes{0};
  Contender contender{};
};

struct Count {
  std::size_t silent{0};
  /// Nodes that can be used, of which it is not known who has the lock there.
  std::size_t unsure{0};
  std::map<std::string, InTheWay> holders{};
  std::vector<Millis> ends{};
  std::vector<NodeError> verdicts{};
  const Error* first{nullptr};
  bool alike{true};
};

std::string words_on(const Contender& holder) {
  if (holder.foreign) return "held by another program";
  std::string words = "held by another";
  if (!holder.host.empty()) words += ": " + holder.host + " pid " + std::to_string(holder.pid);
  return words;
}

void count_busy(Count& count, const redis::Reply& reply, const std::string& name) {
  const std::string& value = reply.items[1].text;
  const Millis left{reply.items[2].integer};
  InTheWay& in_the_way = count.holders[value.substr(0, value.find(':'))];
  ++in_the_way.nodes;
  const auto token = redis::token_of(value);
  if (in_the_way.nodes == 1 || (token && *token > in_the_way.contender.token)) {
    in_the_way.contender = redis::holder_of(value, left);
  }
  count.ends.push_back(std::max(left, Millis{0}));
  count.verdicts.push_back({.node = name, .message = words_on(in_the_way.contender)});
}

void count_error(Count& count, const Error& error, const std::string& name) {
  count.verdicts.push_back({.node = name, .message = error.message});
  if (error.code == Errc::busy) {
    ++count.unsure;
    return;
  }
  ++count.silent;
  count.alike = count.alike && (count.first == nullptr || count.first->code == error.code);
  if (count.first == nullptr) count.first = &error;
}

Count count_of(const std::vector<Obstacle>& obstacles, const std::vector<std::string>& names) {
  Count count;
  for (std::size_t node = 0; node < obstacles.size(); ++node) {
    const std::string name = node < names.size() ? names[node] : std::to_string(node);
    if (const auto* reply = std::get_if<redis::Reply>(&obstacles[node])) {
      count_busy(count, *reply, name);
    } else if (const auto* error = std::get_if<Error>(&obstacles[node])) {
      count_error(count, *error, name);
    }
  }
  return count;
}

/// When `needed` nodes are free: some are already, the others one after the other.
Millis ends_in(std::vector<Millis> ends, std::size_t free, std::size_t needed) {
  if (free >= needed || ends.empty()) return Millis{0};
  std::ranges::sort(ends);
  return ends[std::min(needed - free, ends.size()) - 1];
}

AcquireError too_few_nodes(const Count& count, std::size_t nodes) {
  const std::string usable = std::to_string(nodes - count.silent);
  const std::string all = std::to_string(nodes);
  Errc code = Errc::unavailable;
  // A common cause, such as a wrong password, is worth more than "unavailable".
  if (count.alike && count.first->code != Errc::unknown_outcome) code = count.first->code;
  return {code,
          "only " + usable + " of " + all + " nodes can be used, and " +
              std::to_string(majority(nodes)) + " are needed: " + count.first->message,
          count.alike ? count.first->remedy_text : std::string{}};
}

}  // namespace

Refusal refusal_of(const std::vector<Obstacle>& obstacles, const std::vector<std::string>& names) {
  const std::size_t needed = majority(obstacles.size());
  Count count = count_of(obstacles, names);
  Refusal refusal;
  if (obstacles.size() - count.silent < needed) {
    refusal.error = too_few_nodes(count, obstacles.size());
    refusal.error.nodes = std::move(count.verdicts);
    return refusal;
  }
  refusal.cause = Refusal::Cause::contended;
  refusal.error = {Errc::busy, "others took the lock on some nodes meanwhile"};
  for (const auto& [owner, in_the_way] : count.holders) {
    if (!refusal.error.holder) refusal.error.holder = in_the_way.contender;
    if (in_the_way.nodes + count.silent + count.unsure < needed) continue;
    refusal.cause = Refusal::Cause::held;
    refusal.error = AcquireError{Errc::busy};
    refusal.error.holder = in_the_way.contender;
    const std::size_t free = obstacles.size() - count.silent - count.unsure - count.ends.size();
    refusal.ends_in = ends_in(count.ends, free, needed);
    break;
  }
  refusal.error.nodes = std::move(count.verdicts);
  return refusal;
}

Error node_error(const redis::Reply& reply) {
  if (!reply.text.starts_with(kNotOfTheSet)) return redis::error_of(reply.text);
  return {Errc::unavailable,
          "this node is not of the set: it has lost its data, or belongs to another",
          "let it join with 'holdfast redlock rejoin'"};
}

}  // namespace holdfast::redlock
