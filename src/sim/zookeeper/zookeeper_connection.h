// What a client and a member of a model ensemble say to each other over one connection.

#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>

#include "engines/zookeeper/zookeeper_port.h"
#include "sim/zookeeper/zookeeper_tree.h"

namespace holdfast::sim {

struct ZookeeperHello {
  Millis timeout{0};
  /// Empty: a new session.
  std::optional<zookeeper::SessionKey> resume{};
  /// The newest change that the session has seen.
  zookeeper::Zxid seen{0};
};

struct ZookeeperWatches {
  std::set<std::string> data{};
  /// Of nodes that were not there.
  std::set<std::string> missing{};
  std::set<std::string> children{};

  bool empty() const { return data.empty() && missing.empty() && children.empty(); }
};

struct ZookeeperWelcome {
  zookeeper::SessionKey key;
  /// Zero: there is no such session any more.
  Millis timeout{0};
};
struct ZookeeperClosed {
  std::string why;
};
struct ZookeeperReply {
  std::uint64_t number{0};
  zookeeper::Answer answer{};
};
struct ZookeeperNews {
  ZookeeperTree::Change change;
};
struct ZookeeperPong {};

struct ZookeeperWord {
  std::variant<ZookeeperWelcome, ZookeeperClosed, ZookeeperReply, ZookeeperNews, ZookeeperPong>
      what;
  /// The newest change that the member has seen.
  zookeeper::Zxid zxid{0};
};

/// A connection as its member has it.
struct ZookeeperConnection {
  struct Waiting {
    std::uint64_t number{0};
    zookeeper::SharedRequest request;
    /// Of a request that the leader is asked about: empty until it is there.
    std::optional<zookeeper::Answer> answer{};
  };

  std::size_t member{0};
  /// Null when it is not open, and when its ensemble is gone.
  std::function<void(ZookeeperWord)> say;
  zookeeper::SessionKey key{};
  Millis timeout{0};
  bool open{true};
  /// In the order in which they came, and are answered.
  std::deque<Waiting> waiting{};
  std::set<std::string> data_watches{};
  std::set<std::string> child_watches{};
};

using ZookeeperConnectionPtr = std::shared_ptr<ZookeeperConnection>;

}  // namespace holdfast::sim
