// How the beds of a Port's contract let its Env run: in virtual time, or in a loop of its own.
//
// `Bed` declares env(), on_env() and go_on_until() as etcd_bed.h, postgres_bed.h and
// zookeeper_bed.h do.

#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>

#include "runtime/asio_env.h"
#include "sim/world/sim_env.h"

namespace holdfast::ports {

/// Far longer than anything takes that a Port is asked for. The time of the bed's Env.
inline constexpr std::chrono::seconds kTurnsBound{30};

template <class Bed>
class InSimulation : public Bed {
 public:
  Env& env() override { return sim_env(); }

  void on_env(const std::function<void()>& work) override {
    bool done = false;
    sim_env().post([&] {
      work();
      done = true;
    });
    EXPECT_TRUE(go_on_until([&] { return done; }));
  }

  bool go_on_until(const std::function<bool()>& done) override {
    const TimePoint end = scheduler().now() + kTurnsBound;
    while (!scheduler().run_until(done, kStep)) {
      if (scheduler().now() >= end) return false;
    }
    return true;
  }

 protected:
  virtual sim::Scheduler& scheduler() = 0;
  virtual sim::SimEnv& sim_env() = 0;

 private:
  // What is asked may depend on time alone, which nothing but the question moves.
  static constexpr std::chrono::milliseconds kStep{10};
};

template <class Bed>
class OverAsio : public Bed {
 public:
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
    for (const TimePoint end = env_->now() + kTurnsBound; env_->now() < end;) {
      bool is_done = false;
      on_env([&] { is_done = done(); });
      if (is_done) return true;
      poll(nullptr, 0, /*timeout_ms=*/1);
    }
    return false;
  }

 protected:
  runtime::AsioEnv& asio_env() { return *env_; }

 private:
  std::unique_ptr<runtime::AsioEnv> env_ = *runtime::AsioEnv::create();
};

}  // namespace holdfast::ports
