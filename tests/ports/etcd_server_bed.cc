// The bed over a real etcd server.

#include "engines/etcd/driver/etcd_driver.h"
#include "tests/etcd/etcd_cluster.h"
#include "tests/ports/bed_turns.h"
#include "tests/ports/etcd_bed.h"

namespace holdfast::ports {
namespace {

using namespace etcd;

EtcdCluster& shared_server() {
  static EtcdCluster server;
  return server;
}

class EtcdServerBed final : public OverAsio<EtcdBed> {
 public:
  EtcdServerBed() {
    const EtcdTarget target{.endpoints = {{"127.0.0.1", shared_server().node(0).ports().clients}}};
    driver_ = *EtcdDriver::create(asio_env(), target);
  }
  ~EtcdServerBed() override {
    on_env([this] { driver_.reset(); });
  }

  EtcdPort& port() override { return *driver_; }

  void compact(Revision revision) override {
    shared_server().must({"compact", std::to_string(revision)});
  }

 private:
  std::shared_ptr<EtcdDriver> driver_;
};

}  // namespace

std::unique_ptr<EtcdBed> make_etcd_server_bed() { return std::make_unique<EtcdServerBed>(); }

HOLDFAST_ETCD_PORT_ON(Server, make_etcd_server_bed);

}  // namespace holdfast::ports
