#include "tests/zookeeper/leader_kills.h"

#include "tests/campaigns/let_pass.h"

namespace holdfast::zookeeper {
namespace {

/// A test has connected by then, and has most of its work before it.
constexpr Millis kLeadTime{150};

}  // namespace

LeaderKills::LeaderKills(const ZookeeperSettings& settings)
    : ensemble_{ZookeeperEnsemble::Shape{.nodes = 3, .settings = settings}} {}

LeaderKills::~LeaderKills() { rest(); }

void LeaderKills::rest() {
  if (killer_.joinable()) killer_.join();
}

void LeaderKills::strike() {
  rest();
  if (killed_) ensemble_.node(*killed_).restart();
  ensemble_.wait_until_healthy();
  killed_ = ensemble_.wait_for_leader();
  killer_ = std::thread{[this] {
    campaigns::let_pass(kLeadTime);
    ensemble_.node(*killed_).kill();
  }};
}

}  // namespace holdfast::zookeeper
