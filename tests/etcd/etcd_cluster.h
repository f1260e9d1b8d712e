// EtcdCluster: an etcd cluster of the test's own; of one server unless more are asked for.

#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "tests/etcd/etcd_process.h"

namespace holdfast::etcd {

/// What a command said.
struct Spoken {
  int status{0};
  /// Standard output and error.
  std::string text;
};

/// Thread safety: none. Aborts the test program when the cluster does not do as told.
class EtcdCluster {
 public:
  struct Shape {
    std::size_t nodes{1};
    EtcdSettings settings{};
    /// How etcdctl of this test shows who it is, such as `--user=root:secret`.
    std::vector<std::string> ctl_arguments{};
  };

  /// Starts it and waits until every node is healthy.
  EtcdCluster() : EtcdCluster{Shape{}} {}
  explicit EtcdCluster(Shape shape);

  std::size_t size() const { return nodes_.size(); }
  EtcdProcess& node(std::size_t number) { return nodes_[number]; }
  const EtcdProcess& node(std::size_t number) const { return nodes_[number]; }

  /// `host:port,host:port…`, for URLs.
  std::string endpoints() const;

  /// Who leads, among those that run; none while that is open.
  std::optional<std::size_t> leader() const;
  /// The same, waited for.
  std::size_t wait_for_leader() const;
  /// Waits until every node that runs is healthy.
  void wait_until_healthy();

  /// Runs etcdctl to its end, at all endpoints.
  Spoken etcdctl(const std::vector<std::string>& words) const;
  /// The same, where it must succeed. What it said.
  std::string must(const std::vector<std::string>& words) const;

  /// Turns authentication on, with the user root, and a user `name` who may read and write under
  /// `prefix` alone. From then on etcdctl() speaks as root.
  void enable_auth(const std::string& root_password,
                   const std::string& name,
                   const std::string& password,
                   const std::string& prefix);

 private:
  Shape shape_;
  std::deque<EtcdProcess> nodes_;
};

}  // namespace holdfast::etcd
