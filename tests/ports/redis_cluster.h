// RedisCluster: a Redis cluster of the test's own, on loopback ports.

#pragma once

#include <deque>
#include <string>
#include <vector>

#include "tests/ports/redis_process.h"
#include "tests/ports/server_connection.h"

namespace holdfast::ports {

/// Thread safety: none. Aborts the test program when the cluster does not come about.
class RedisCluster {
 public:
  struct Shape {
    std::size_t masters{3};
    /// In all; each follows the first masters in turn.
    std::size_t replicas{0};
    /// What a node listens with: `--tls-port` for TLS alone.
    std::string listen{"--port"};
    /// For the command line of every node.
    std::vector<std::string> arguments{};
  };

  /// Starts the nodes, masters first, and waits until each knows all of them.
  explicit RedisCluster(Shape shape);

  std::size_t size() const { return nodes_.size(); }
  RedisProcess& node(std::size_t number) { return nodes_[number].process; }
  std::uint16_t port(std::size_t number) const { return nodes_[number].port; }
  /// `host:port,host:port…` of the masters, for URLs.
  std::string addresses() const;

  redis::Reply command(std::size_t number, const std::vector<std::string>& words);
  /// The master that a key is with. Precondition: nothing was moved.
  std::size_t master_of(const std::string& key) const;
  /// How the cluster calls a node.
  const std::string& id(std::size_t number) const { return nodes_[number].id; }

 private:
  struct Node {
    Node(const Shape& shape, std::uint16_t port, std::uint16_t bus);

    std::uint16_t port;
    std::uint16_t bus;
    RedisProcess process;
    ServerConnection connection;
    std::string id;
  };

  void meet();
  void share_slots();
  void follow();
  void wait_until(std::size_t number,
                  const std::vector<std::string>& words,
                  const std::string& state);

  Shape shape_;
  std::deque<Node> nodes_;
};

}  // namespace holdfast::ports
