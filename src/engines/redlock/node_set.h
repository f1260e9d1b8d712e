// NodeSet: which nodes make up one Redlock, as every node of it remembers.
//
// Majorities meet only within one set of nodes, so each node keeps the fingerprint of its set and
// serves nobody who comes with another. The counter of tokens is found under the fingerprint alone:
// a node that lost its data has no such counter, and serves nobody either, until it has joined
// again.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "holdfast/clock.h"
#include "holdfast/result.h"

namespace holdfast::redlock {

/// More than half of the nodes.
constexpr std::size_t majority(std::size_t nodes) { return nodes / 2 + 1; }

struct NodeSet {
  /// Drawn when the set was founded.
  std::string id{};
  std::size_t nodes{0};
  /// Counts how often the set was founded anew.
  std::uint64_t epoch{1};
  /// No lease of this set is longer.
  Millis longest_ttl{std::chrono::hours{24}};

  /// `<id> <nodes> <epoch> <longest TTL in ms>`: the fingerprint.
  std::string text() const;
  /// Empty: it is not a fingerprint.
  static std::optional<NodeSet> parse(std::string_view text);

  friend bool operator==(const NodeSet&, const NodeSet&) = default;
};

/// What one node remembers of its set. Everything is empty when it has joined none.
struct Membership {
  std::optional<NodeSet> set{};
  /// Drawn when this node joined: two addresses with one member are one node.
  std::string member{};
};

/// What was learnt about one node.
struct NodeView {
  /// As messages name it.
  std::string name;
  /// Empty: it has not answered yet.
  std::optional<Result<Membership>> answer{};
};

/// The set that a majority of these nodes belongs to, if that is sure by now. Empty: more answers
/// are needed. Errors when all have answered without one, with a verdict on each node:
/// unavailable: too few nodes answered, or too few have joined. invalid_argument: the set has
/// another number of nodes, or two of the addresses are one node.
std::optional<Result<NodeSet>> agreed_set(const std::vector<NodeView>& nodes);

/// The keys of Redlock at one node. Lock names have no control characters, so that no lock can have
/// one of the others.
class Keys {
 public:
  Keys(std::string prefix, const NodeSet& set)
      : prefix_{std::move(prefix)}, high_{high_of(prefix_, set)} {}

  const std::string& prefix() const { return prefix_; }
  std::string lock(const LockName& name) const { return prefix_ + name.text(); }
  /// The last grant of one name; may be forgotten.
  std::string counter(const LockName& name) const { return prefix_ + "\x01token:" + name.text(); }
  /// The highest grant of all names; its absence is how a node knows that it is not of the set.
  const std::string& high() const { return high_; }
  /// Whose lease was ended by force.
  std::string broken(const LockName& name) const {
    return prefix_ +
           "\x01"
           "broken:" +
           name.text();
  }
  /// Who ended leases by force, and why: a list, the latest first.
  std::string audit(const LockName& name) const {
    return prefix_ +
           "\x01"
           "audit:" +
           name.text();
  }
  /// Who waits, and until when that is to be believed: a hash.
  std::string waiters(const LockName& name) const { return prefix_ + "\x01waiters:" + name.text(); }
  /// Where a release is told.
  std::string channel(const LockName& name) const {
    return prefix_ +
           "\x01"
           "free:" +
           name.text();
  }
  /// Where who observes a lock hears that others hold it now.
  std::string changes() const { return prefix_ + "\x01" + "change"; }

  /// The lock whose own key, or key of waiters, this is. Empty: none.
  std::optional<LockName> lock_of(std::string_view key) const;

  /// The node's membership, whatever its set.
  static std::string membership(const std::string& prefix) { return prefix + "\x01nodes"; }
  /// Who is about to let the node join again.
  static std::string rejoining(const std::string& prefix) { return prefix + "\x01rejoining"; }
  static std::string high_of(const std::string& prefix, const NodeSet& set) {
    return prefix + "\x01high " + set.text();
  }

 private:
  std::string prefix_;
  std::string high_;
};

}  // namespace holdfast::redlock
