// The bed over a real ZooKeeper server.

#include "engines/zookeeper/driver/zookeeper_driver.h"
#include "tests/ports/bed_turns.h"
#include "tests/ports/zookeeper_bed.h"
#include "tests/zookeeper/zookeeper_ensemble.h"

namespace holdfast::ports {
namespace {

using namespace zookeeper;

constexpr Millis kLeastTimeout{1000};
constexpr Millis kMostTimeout{60'000};

ZookeeperEnsemble& shared_server() {
  static ZookeeperEnsemble server{
      {.settings = {.tick = Millis{200},
                    .min_session_timeout = kLeastTimeout,
                    .max_session_timeout = kMostTimeout,
                    .java = {"-Dznode.container.checkIntervalMs=200"}}}};
  return server;
}

class ZookeeperServerBed final : public OverAsio<ZookeeperPortBed> {
 public:
  ZookeeperServerBed() {
    const ZookeeperTarget target{
        .endpoints = {{"127.0.0.1", shared_server().node(0).ports().clients}}};
    driver_ = std::make_unique<ZookeeperDriver>(asio_env(), target);
  }

  ZookeeperPort& port() override { return *driver_; }

  Millis least_timeout() const override { return kLeastTimeout; }
  Millis most_timeout() const override { return kMostTimeout; }

 private:
  std::unique_ptr<ZookeeperDriver> driver_;
};

}  // namespace

std::unique_ptr<ZookeeperPortBed> make_zookeeper_server_bed() {
  return std::make_unique<ZookeeperServerBed>();
}

HOLDFAST_ZOOKEEPER_PORT_ON(Server, make_zookeeper_server_bed);

}  // namespace holdfast::ports
