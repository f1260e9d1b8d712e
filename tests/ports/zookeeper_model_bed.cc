// The bed over the simulator's model ensemble.

#include "sim/zookeeper/zookeeper_bed.h"
#include "tests/ports/bed_turns.h"
#include "tests/ports/zookeeper_bed.h"

namespace holdfast::ports {
namespace {

class ZookeeperModelBed final : public InSimulation<ZookeeperPortBed> {
 public:
  zookeeper::ZookeeperPort& port() override { return *process_.port; }

  Millis least_timeout() const override { return sim::ZookeeperEnsemble::kTimeoutMin; }
  Millis most_timeout() const override { return sim::ZookeeperEnsemble::kTimeoutMax; }

 private:
  sim::Scheduler& scheduler() override { return bed_.scheduler; }
  sim::SimEnv& sim_env() override { return process_.env; }

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
