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
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "base/env.h"
#include "holdfast/result.h"
#include "runtime/boot_timer.h"
#include "runtime/loop_turn.h"
#include "runtime/spin_gauge.h"

namespace holdfast::runtime {

class AsioEnv final : public Env, private TaskRunner {
 public:
  /// io_error: the system has no timer or thread left for it. invalid_argument: the environment
  /// says something senseless (spin_gauge.h).
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

  // For drivers.

  /// Where their sockets belong. Every one that is opened is told by watch().
  boost::asio::io_context& context() { return context_; }
  void watch(int descriptor) { turn_.watch(descriptor); }

  /// While one lives, something is under way in the context that no watched descriptor tells of.
  class Unwatched {
   public:
    explicit Unwatched(AsioEnv& env) : turn_{env.turn_} { turn_.begin_unwatched(); }
    ~Unwatched() { turn_.end_unwatched(); }
    Unwatched(const Unwatched&) = delete;
    Unwatched& operator=(const Unwatched&) = delete;

   private:
    LoopTurn& turn_;
  };

  /// Within a task: runs the work between tasks when the turn ends: once the tasks that are ready
  /// have been run, or so many of them that others, such as a server, should begin with theirs.
  void run_after_tasks(std::function<void()> work);
  static constexpr int kTasksInTurn = 16;

 private:
  explicit AsioEnv(Duration longest_look)
      : guard_{context_.get_executor()},
        timer_{context_},
        keepers_spin_{longest_look},
        callers_spin_{longest_look} {}
  Result<void> start();
  void keep_running();
  void run_until_known(const Awaited& answer, TimePoint limit);
  std::size_t run_one(TimePoint limit, SpinGauge& spin);
  bool look_for_a_moment(TimePoint begun, SpinGauge& spin);
  std::size_t sleep_and_run_one(TimePoint limit);
  enum class Turn : std::uint8_t { kept, given };
  Turn run_what_comes();
  void launch(Task<void> task);
  void run_later(TaskStep step) override;
  void launch_as_caller(Task<void> task);
  void end_turn();
  void wake_due();

  // Declared first, destroyed last: tasks may wake each other while they unwind.
  ParkingLot parked_;
  mutable boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_;
  BootTimer timer_;
  LoopTurn turn_;
  /// Of whoever has the turn.
  SpinGauge keepers_spin_;
  SpinGauge callers_spin_;
  /// The turn ends with the task that runs.
  bool gathers_{false};
  /// The end of the turn is on its way.
  bool turn_ends_{false};
  int tasks_in_turn_{0};
  std::vector<std::function<void()>> after_tasks_;
  std::thread thread_;
};

}  // namespace holdfast::runtime
