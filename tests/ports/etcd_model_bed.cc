// The bed over the simulator's model cluster.

#include "sim/etcd/etcd_bed.h"
#include "tests/ports/bed_turns.h"
#include "tests/ports/etcd_bed.h"

namespace holdfast::ports {
namespace {

class ModelBed final : public InSimulation<EtcdBed> {
 public:
  etcd::EtcdPort& port() override { return *process_.port; }

  void compact(etcd::Revision revision) override { bed_.cluster.compact(revision); }

 private:
  sim::Scheduler& scheduler() override { return bed_.scheduler; }
  sim::SimEnv& sim_env() override { return process_.env; }

  sim::EtcdBed bed_;
  sim::EtcdBed::Process& process_{bed_.start()};
};

std::unique_ptr<EtcdBed> make_model_bed() { return std::make_unique<ModelBed>(); }

HOLDFAST_ETCD_PORT_ON(Model, make_model_bed);

}  // namespace
}  // namespace holdfast::ports
