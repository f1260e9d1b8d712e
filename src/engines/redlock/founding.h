// Founding a set of nodes, and letting a node that lost its data join again.
//
// Thread safety: as Env.

#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/env.h"
#include "engines/redlock/node_poll.h"
#include "engines/redlock/node_set.h"

namespace holdfast::redlock {

/// Where it is done. The Env outlives what uses it.
struct Ground {
  Env& env;
  Nodes nodes;
  /// As messages name the nodes.
  std::vector<std::string> names;
  std::string prefix;
  /// Of one question to the nodes.
  Millis timeout;
};

/// Told again and again while it waits: how long it has, and has to.
using OnWait = std::function<void(Millis waited, Millis total)>;

struct Founding {
  Millis longest_ttl;
  enum class Anew : std::uint8_t { no, yes };
  /// Whether nodes may leave the set they belong to. Every client of that set is refused from then
  /// on, and every lease of it has ended before the new set begins.
  Anew anew{Anew::no};
};

/// Makes all nodes one set. A set founded anew has the next epoch, and its tokens are above those
/// of the old one.
///
/// unavailable: a node does not answer; all must. invalid_argument: some belong to a set already,
/// or two addresses are one node. cancelled: by `stop`; with Anew::yes the nodes may belong to no
/// set then.
Task<Result<NodeSet>> found_set(Ground ground,
                                Founding founding,
                                OnWait on_wait,
                                std::stop_token stop);

/// Lets the node that lost its data join its set again: waits until every lease and every attempt
/// it had a part in is over, then takes over the highest counter of as many others as make a
/// majority.
///
/// unavailable: it does not answer, or too few others do; or it lost its data again meanwhile.
/// invalid_argument: it has not lost its data. cancelled: by `stop`; nothing has changed then.
Task<Result<NodeSet>> rejoin_set(Ground ground,
                                 std::size_t node,
                                 OnWait on_wait,
                                 std::stop_token stop);

/// How long it takes until nothing is left of what a set's nodes had granted.
Millis quarantine(Millis longest_ttl);

/// What founding a set anew lets tokens begin at.
std::uint64_t first_count(std::uint64_t epoch);

}  // namespace holdfast::redlock
