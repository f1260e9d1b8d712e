// The bed over the simulator's model server.

#include "sim/postgres/postgres_bed.h"
#include "tests/ports/bed_turns.h"
#include "tests/ports/postgres_bed.h"

namespace holdfast::ports {
namespace {

class PostgresModelBed final : public InSimulation<PostgresPortBed> {
 public:
  postgres::PostgresPort& port() override { return *process_.port; }

  void terminate(std::int32_t backend) override { bed_.node.terminate({backend}); }

  bool attended(const std::string& number) override {
    return bed_.node.attended(std::stoll(number));
  }

 private:
  sim::Scheduler& scheduler() override { return bed_.scheduler; }
  sim::SimEnv& sim_env() override { return process_.env; }

  sim::PostgresBed bed_;
  sim::PostgresBed::Process& process_{bed_.start()};
};

std::unique_ptr<PostgresPortBed> make_postgres_model_bed() {
  return std::make_unique<PostgresModelBed>();
}

HOLDFAST_POSTGRES_PORT_ON(Model, make_postgres_model_bed);

}  // namespace
}  // namespace holdfast::ports
