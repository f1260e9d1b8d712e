// The bed over the simulator's model ensemble.

#include "sim/zookeeper/zookeeper_bed.h"
#include "tests/ports/zookeeper_bed.h"

namespace holdfast::ports {
namespace {

class ZookeeperModelBed final : public ZookeeperPortBed {
 public:
  zookeeper::ZookeeperPort& port() override { return *process_.port; }
  Env& env() override { return process_.env; }

  void on_env(const std::function<void()>& work) override {
    bool done = false;
    process_.env.post([&] {
      work();
      done = true;
    });
    EXPECT_TRUE(go_on_until([&] { return done; }));
  }

  bool go_on_until(const std::function<bool()>& done) override {
    const TimePoint end = bed_.scheduler.now() + kZookeeperBound;
    while (!bed_.scheduler.run_until(done, kStep)) {
      if (bed_.scheduler.now() >= end) return false;
    }
    return true;
  }

  Millis least_timeout() const override { return sim::ZookeeperEnsemble::kTimeoutMin; }
  Millis most_timeout() const override { return sim::ZookeeperEnsemble::kTimeoutMax; }

 private:
  // What is asked may depend on time alone, which nothing but the question moves.
  static constexpr std::chrono::milliseconds kStep{10};

  // One server, as the other bed has it: a follower may be behind what another session did.
  sim::ZookeeperBed bed_{1};
  sim::ZookeeperBed::Process& process_{bed_.start()};
};

std::unique_ptr<ZookeeperPortBed> make_zookeeper_model_bed() {
  return std::make_unique<ZookeeperModelBed>();
}

HOLDFAST_ZOOKEEPER_PORT_ON(Model, make_zookeeper_model_bed);

}  // namespace
}  // namespace holdfast::ports
