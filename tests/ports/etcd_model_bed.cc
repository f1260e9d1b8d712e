// The bed over the simulator's model cluster.

#include "sim/etcd/etcd_bed.h"
#include "tests/ports/etcd_bed.h"

namespace holdfast::ports {
namespace {

class ModelBed final : public EtcdBed {
 public:
  etcd::EtcdPort& port() override { return *process_.port; }
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
    const TimePoint end = bed_.scheduler.now() + kEtcdBound;
    while (!bed_.scheduler.run_until(done, kStep)) {
      if (bed_.scheduler.now() >= end) return false;
    }
    return true;
  }

  void compact(etcd::Revision revision) override { bed_.cluster.compact(revision); }

 private:
  // What is asked may depend on time alone, which nothing but the question moves.
  static constexpr std::chrono::milliseconds kStep{10};

  sim::EtcdBed bed_;
  sim::EtcdBed::Process& process_{bed_.start()};
};

std::unique_ptr<EtcdBed> make_model_bed() { return std::make_unique<ModelBed>(); }

HOLDFAST_ETCD_PORT_ON(Model, make_model_bed);

}  // namespace
}  // namespace holdfast::ports
