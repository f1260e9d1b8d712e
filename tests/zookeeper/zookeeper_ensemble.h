// ZookeeperEnsemble: ZooKeeper servers of the test's own; one standalone unless more are asked for.

#pragma once

#include <deque>
#include <optional>
#include <string>

#include "tests/zookeeper/zookeeper_process.h"

namespace holdfast::zookeeper {

/// Thread safety: none. Aborts the test program when the ensemble does not do as told.
class ZookeeperEnsemble {
 public:
  struct Shape {
    std::size_t nodes{1};
    ZookeeperSettings settings{};
  };

  /// Starts it and waits until every node serves clients.
  ZookeeperEnsemble() : ZookeeperEnsemble{Shape{}} {}
  explicit ZookeeperEnsemble(const Shape& shape);

  std::size_t size() const { return nodes_.size(); }
  ZookeeperProcess& node(std::size_t number) { return nodes_[number]; }
  const ZookeeperProcess& node(std::size_t number) const { return nodes_[number]; }

  /// `host:port,host:port…`, for URLs.
  std::string endpoints() const;

  /// Who leads, or stands alone, among those that run; none while that is open.
  std::optional<std::size_t> leader() const;
  /// The same, waited for.
  std::size_t wait_for_leader() const;
  /// One that follows a leader, waited for. Only of several nodes.
  std::size_t wait_for_follower() const;
  /// Waits until every node that runs serves clients.
  void wait_until_healthy();

 private:
  std::deque<ZookeeperProcess> nodes_;
};

}  // namespace holdfast::zookeeper
