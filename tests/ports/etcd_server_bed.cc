// The bed over a real etcd server.

#include <poll.h>

#include <future>

#include "engines/etcd/driver/etcd_driver.h"
#include "runtime/asio_env.h"
#include "tests/etcd/etcd_cluster.h"
#include "tests/ports/etcd_bed.h"

namespace holdfast::ports {
namespace {

using namespace etcd;

EtcdCluster& shared_server() {
  static EtcdCluster server;
  return server;
}

class EtcdServerBed final : public EtcdBed {
 public:
  EtcdServerBed() {
    const EtcdTarget target{.endpoints = {{"127.0.0.1", shared_server().node(0).ports().clients}}};
    driver_ = *EtcdDriver::create(*env_, target);
  }
  ~EtcdServerBed() override {
    on_env([this] { driver_.reset(); });
  }

  EtcdPort& port() override { return *driver_; }
  Env& env() override { return *env_; }

  void on_env(const std::function<void()>& work) override {
    std::promise<void> done;
    env_->post([&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }

  bool go_on_until(const std::function<bool()>& done) override {
    for (const TimePoint end = env_->now() + kEtcdBound; env_->now() < end;) {
      bool is_done = false;
      on_env([&] { is_done = done(); });
      if (is_done) return true;
      poll(nullptr, 0, /*timeout_ms=*/1);
    }
    return false;
  }

  void compact(Revision revision) override {
    shared_server().must({"compact", std::to_string(revision)});
  }

 private:
  std::unique_ptr<runtime::AsioEnv> env_ = *runtime::AsioEnv::create();
  std::shared_ptr<EtcdDriver> driver_;
};

}  // namespace

std::unique_ptr<EtcdBed> make_etcd_server_bed() { return std::make_unique<EtcdServerBed>(); }

HOLDFAST_ETCD_PORT_ON(Server, make_etcd_server_bed);

}  // namespace holdfast::ports
