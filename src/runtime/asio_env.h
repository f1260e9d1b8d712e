// AsioEnv: the Env of a real process: one thread of its own that runs an Asio io_context, or a
// thread that waits for an answer in its place (loop_turn.h).
//
// Sleepers wake by CLOCK_BOOTTIME, which goes on while the machine is suspended: a lease that ran
// out during suspension is noticed as soon as the machine resumes.
//
// Thread safety: as Env. Destroyed by a thread that does not run its tasks, when nobody waits.

#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <optional>
#include <thread>

#include "base/env.h"
#include "holdfast/result.h"
#include "runtime/boot_timer.h"
#include "runtime/loop_turn.h"

namespace holdfast::runtime {

class AsioEnv final : public Env {
 public:
  /// io_error: the system has no timer or thread left for it.
  static Result<std::unique_ptr<AsioEnv>> create();

  /// Stops the thread, then unwinds every task that has not ended.
  ~AsioEnv() override;
  AsioEnv(const AsioEnv&) = delete;
  AsioEnv& operator=(const AsioEnv&) = delete;

  TimePoint now() const override { return BootClock::now(); }
  std::uint64_t draw() override;
  Owner fresh_owner() override;
  void spawn(Task<void> task) override;
  bool spawn_and_wait(Task<void> task, Awaited& answer, TimePoint limit) override;
  bool runs_here() const override { return context_.get_executor().running_in_this_thread(); }
  void post(std::function<void()> work) override;
  void post_quietly(std::function<void()> work) override;
  ParkingId park(TimePoint due, Parked task) override;
  void wake(ParkingId id) override;

  /// For drivers: where their sockets belong.
  boost::asio::io_context& context() { return context_; }

 private:
  AsioEnv() : guard_{context_.get_executor()}, timer_{context_} {}
  Result<void> start();
  void keep_running();
  void run_until_known(const Awaited& answer, TimePoint limit);
  void launch(Task<void> task);
  void wake_due();

  // Declared first, destroyed last: tasks may wake each other while they unwind.
  ParkingLot parked_;
  mutable boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_;
  BootTimer timer_;
  LoopTurn turn_;
  std::thread thread_;
};

}  // namespace holdfast::runtime
