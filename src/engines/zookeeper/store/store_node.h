// Where the store has things in a ZooKeeper tree, and what its nodes contain.
//
// Everything about a key is the data of one node: when it may go, its mark (core/store_mark.h), and
// its value. So it is read at one moment and changed under the condition of one version.
//
// Decisions only: no clock and no I/O.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/store_step.h"
#include "engines/zookeeper/zookeeper_nodes.h"

namespace holdfast::zookeeper {

/// When something goes by itself, by the clock of the servers. Zero: never.
struct Passing {
  Millis value{0};
  Millis node{0};

  friend bool operator==(const Passing&, const Passing&) = default;
};

struct StoreNode {
  Passing passing{};
  core::StoreMark mark{};
  /// All but the value, exactly as it stands there.
  std::string head{};
  std::string value{};
};

std::string head_of(const Passing& passing, const core::StoreMark& mark);

/// The data of a node.
std::string to_data(std::string_view head, std::string_view value);

/// Empty: another program wrote it.
std::optional<StoreNode> read_node(std::string_view data);

/// When a change lets things go. `now` is not before the servers' time.
Passing passing_after(const core::StoreChange& change, const Passing& before, Millis now);

/// A name below expiring(): when the node named in its data may go.
std::string expiry_name(Millis at, std::string_view request);
/// Empty: it is not one of expiry_name().
std::optional<Millis> read_expiry(std::string_view name);

class StoreNodes {
 public:
  explicit StoreNodes(const Nodes& nodes) : root_{nodes.beside("store")} {}

  std::string key(Space space, std::string_view key) const;
  /// Of all keys of a space.
  std::string space(Space space) const;
  /// Of what goes by itself.
  std::string expiring() const { return root_ + "/expiring"; }
  /// Of what an administrator did to the key in this request.
  std::string record(Space space, std::string_view key, std::string_view request) const;
  /// Is written to learn the servers' time.
  std::string clock() const { return root_ + "/clock"; }

  /// Everything that must be there first, parents before children.
  std::vector<std::string> ground() const;

 private:
  std::string root_;
};

}  // namespace holdfast::zookeeper
