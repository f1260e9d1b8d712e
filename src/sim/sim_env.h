// SimEnv: the Env of one simulated process, over virtual time.
//
// The coroutines it runs are the production ones, unmodified. A paused process runs nothing, while
// its clock goes on and messages to it wait, as under SIGSTOP.
//
// Thread safety: none; a world lives on one thread.

#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <optional>

#include "base/env.h"
#include "sim/chance.h"
#include "sim/scheduler.h"

namespace holdfast::sim {

class SimEnv final : public Env {
 public:
  /// The seed also says what the boot clock shows: no two processes agree on that.
  SimEnv(Scheduler& scheduler, std::uint64_t seed);
  ~SimEnv() override;
  SimEnv(const SimEnv&) = delete;
  SimEnv& operator=(const SimEnv&) = delete;

  TimePoint now() const override { return scheduler_.now() + clock_offset_; }
  std::uint64_t draw() override { return chance_.draw(); }
  Owner fresh_owner() override;
  void spawn(Task<void> task) override;
  void post(std::function<void()> work) override;
  ParkingId park(TimePoint due, Parked task) override { return parked_.park(due, std::move(task)); }
  void wake(ParkingId id) override { parked_.wake(id); }

  void pause() { paused_ = true; }
  void resume() { paused_ = false; }
  bool paused() const { return paused_; }

  /// Unwinds every task where it stands, as when the process is killed.
  void kill();

  /// Runs what is ready. Whether anything was.
  bool poll();

  /// When poll() will next have something to do, in true time. Empty while paused.
  std::optional<TimePoint> next_due() const;

  TimePoint true_time(TimePoint local) const { return local - clock_offset_; }

 private:
  Scheduler& scheduler_;
  Chance chance_;
  Duration clock_offset_;
  bool paused_{false};
  ParkingLot parked_;
  // Destroyed first: what its tasks refer to is still there while they unwind.
  std::optional<boost::asio::io_context> context_;
  std::optional<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> guard_;
};

}  // namespace holdfast::sim
