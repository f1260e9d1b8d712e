// SimEnv: the Env of one simulated process, over virtual time.
//
// The coroutines it runs are the production ones, unmodified. A paused process runs nothing, while
// its clock goes on and messages to it wait, as under SIGSTOP.
//
// Thread safety: none; a world lives on one thread.

#pragma once

#include <functional>

#include "base/env.h"
#include "sim/world/chance.h"
#include "sim/world/run_queue.h"
#include "sim/world/scheduler.h"
#include "sim/world/sim_clock.h"

namespace holdfast::sim {

class SimEnv final : public Env, private TaskRunner {
 public:
  /// The seed also says what the boot clock shows: no two processes agree on that.
  SimEnv(Scheduler& scheduler, std::uint64_t seed);
  ~SimEnv() override;
  SimEnv(const SimEnv&) = delete;
  SimEnv& operator=(const SimEnv&) = delete;

  TimePoint now() const override { return TimePoint{clock_.at(scheduler_.now())}; }
  std::uint64_t draw() override { return chance_.draw(); }
  Owner fresh_owner() override;
  void spawn(Task<void> task) override;
  bool runs_here() const override { return true; }
  void post(std::function<void()> work) override;
  ParkingId park(TimePoint due, Parked task) override;
  void wake(ParkingId id) override;
  /// Does the work as a step of this process at `due`, or when woken before.
  template <class F>
  ParkingId call_at(TimePoint due, F work) {
    auto resume = [this, work = std::move(work)]() mutable { ready_.add(std::move(work)); };
    return park(due, Parked{Work{std::move(resume)}});
  }

  void pause() { paused_ = true; }
  void resume() { paused_ = false; }
  bool paused() const { return paused_; }

  /// Where a process may be paused: before any step of any task, or where a pause hurts most.
  enum class Moment : std::uint8_t { any, worst };

  /// Asked at every such moment: whether to pause now. Whoever answers true has paused this
  /// process, and resumes it.
  void set_pauser(std::function<bool(Moment)> pauser) { pauser_ = std::move(pauser); }

  /// For tasks to ask where they take no step, such as between looking at a lease and relying on
  /// it: if this answers true, the task is to await pausing() at once.
  bool strikes(Moment moment) { return pauser_ && pauser_(moment); }
  /// Ends when the process runs again.
  static Task<void> pausing();

  /// Unwinds every task where it stands, as when the process is killed.
  void kill();
  bool killed() const { return killed_; }

  /// Whether poll() has something to do.
  bool stirs() const {
    if (paused_ || killed_) return false;
    return !ready_.empty() || next_due() <= scheduler_.now();
  }

  /// Runs what is ready. Whether anything was.
  bool poll();

  /// When it will stir by itself, in true time. TimePoint::max(): never.
  TimePoint next_due() const {
    if (paused_ || killed_) return TimePoint::max();
    if (due_changed_) look_at_clock();
    return due_;
  }

  /// What its clock shows from now on. Precondition: nobody waits for a time by it yet.
  void set_clock(TimePoint shows);
  void set_clock_rate(ClockRate rate);
  TimePoint true_time(TimePoint local) const;

 private:
  void run_later(TaskStep step) override { ready_.add(std::move(step)); }
  void look_at_clock() const;

  Scheduler& scheduler_;
  Chance chance_;
  SimClock clock_;
  bool paused_{false};
  bool killed_{false};
  std::function<bool(Moment)> pauser_;
  ParkingLot parked_;
  /// Clocks are asked far more often than the first sleeper changes.
  mutable bool due_changed_{true};
  mutable TimePoint due_{TimePoint::max()};
  // Destroyed first: what its tasks refer to is still there while they unwind.
  RunQueue ready_;
};

}  // namespace holdfast::sim
