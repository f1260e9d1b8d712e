#include "tests/zookeeper/zookeeper_ensemble.h"

#include <poll.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace holdfast::zookeeper {
namespace {

/// Far longer than an election takes on a busy machine.
constexpr std::chrono::seconds kBound{60};

/// The first node `wanted` is true of, waited for.
template <class Wanted>
std::size_t wait_for(const std::deque<ZookeeperProcess>& nodes, const char* what, Wanted wanted) {
  for (const TimePoint end = BootClock::now() + kBound; BootClock::now() < end;) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (wanted(nodes[i].mode())) return i;
    }
    poll(nullptr, 0, /*timeout_ms=*/10);
  }
  std::fprintf(stderr, "ZooKeeper has no %s: see %s\n", what, nodes.front().directory().c_str());
  std::abort();
}

bool leads(const std::string& mode) { return mode == "leader" || mode == "standalone"; }

}  // namespace

ZookeeperEnsemble::ZookeeperEnsemble(const Shape& shape) {
  std::vector<ZookeeperPorts> ports(shape.nodes);
  std::vector<std::string> members;
  for (std::size_t i = 0; shape.nodes > 1 && i < ports.size(); ++i) {
    members.push_back("server." + std::to_string(i + 1) + "=127.0.0.1:" +
                      std::to_string(ports[i].quorum) + ':' + std::to_string(ports[i].election));
  }
  for (std::size_t i = 0; i < ports.size(); ++i) {
    nodes_.emplace_back(static_cast<int>(i) + 1, ports[i], members, shape.settings).start();
  }
  wait_until_healthy();
}

std::string ZookeeperEnsemble::endpoints() const {
  std::string all;
  for (const ZookeeperProcess& node : nodes_) all += (all.empty() ? "" : ",") + node.endpoint();
  return all;
}

std::optional<std::size_t> ZookeeperEnsemble::leader() const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (leads(nodes_[i].mode())) return i;
  }
  return std::nullopt;
}

std::size_t ZookeeperEnsemble::wait_for_leader() const { return wait_for(nodes_, "leader", leads); }

std::size_t ZookeeperEnsemble::wait_for_follower() const {
  return wait_for(nodes_, "follower", [](const std::string& mode) { return mode == "follower"; });
}

void ZookeeperEnsemble::wait_until_healthy() {
  for (ZookeeperProcess& node : nodes_) {
    if (node.is_running()) node.wait_until_healthy();
  }
}

}  // namespace holdfast::zookeeper
