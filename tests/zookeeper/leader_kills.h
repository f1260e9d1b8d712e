// LeaderKills: an ensemble of three whose leader is killed while a test runs.

#pragma once

#include <optional>
#include <string>
#include <thread>

#include "tests/zookeeper/zookeeper_ensemble.h"

namespace holdfast::zookeeper {

/// Thread safety: none.
class LeaderKills {
 public:
  explicit LeaderKills(const ZookeeperSettings& settings);
  ~LeaderKills();
  LeaderKills(const LeaderKills&) = delete;
  LeaderKills& operator=(const LeaderKills&) = delete;

  std::string endpoints() const { return ensemble_.endpoints(); }

  /// Starts again whom it killed last, and kills the leader some moments from now.
  void strike();

 private:
  void rest();

  ZookeeperEnsemble ensemble_;
  std::optional<std::size_t> killed_;
  std::thread killer_;
};

}  // namespace holdfast::zookeeper
