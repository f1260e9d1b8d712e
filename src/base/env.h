// Env: the only way by which time, chance and concurrency reach decisions.
//
// Production runs over Asio (src/runtime), simulation over virtual time (src/sim); the code between
// is the same.
//
// Thread safety: the tasks of one Env run one at a time, not always on the same thread. spawn(),
// post(), post_quietly(), now() and runs_here() may be called from any thread, spawn_and_wait()
// from any that does not run a task, everything else from within a task or posted work of this Env.
// Lifetime: an Env outlives the objects that refer to it. When it goes, tasks that have not ended
// are unwound where they wait.

#pragma once

#include <cstdint>
#include <functional>

#include "base/awaited.h"
#include "base/parking_lot.h"
#include "base/task.h"
#include "holdfast/clock.h"
#include "holdfast/token.h"

namespace holdfast {

class Env {
 public:
  virtual ~Env() = default;

  /// The boot-time clock. Comparable only with times of the same Env.
  virtual TimePoint now() const = 0;

  /// 64 random bits: for jitter, not for secrets.
  virtual std::uint64_t draw() = 0;

  /// A new secret that nobody can guess.
  virtual Owner fresh_owner() = 0;

  /// Runs the task beside the others. A task reports failure by what it does, never by throwing: an
  /// exception that leaves it is a defect and ends the process.
  virtual void spawn(Task<void> task) = 0;

  /// As spawn(), then blocks until `answer` is known or until `limit`, and says whether it is
  /// known. The Env may run its tasks on the calling thread meanwhile.
  virtual bool spawn_and_wait(Task<void> task, Awaited& answer, TimePoint limit);

  /// Whether the calling thread runs a task of this Env at this moment, so that it must not block.
  virtual bool runs_here() const = 0;

  /// Runs the work between tasks, soon. The way in from other threads.
  virtual void post(std::function<void()> work) = 0;

  /// As post(), for work that nobody waits for: it wakes nobody, and may be run a moment later.
  virtual void post_quietly(std::function<void()> work) { post(std::move(work)); }

  /// Keeps a suspended task until `due`. Tasks use Alarm and sleep_until() instead.
  virtual ParkingId park(TimePoint due, Parked task) = 0;

  /// Resumes a parked task at once. Without effect when it was resumed already.
  virtual void wake(ParkingId id) = 0;

  /// Ends at `when` or soon after, never before; at once when that has passed.
  Task<void> sleep_until(TimePoint when);
  Task<void> sleep_for(Duration duration);
};

}  // namespace holdfast
