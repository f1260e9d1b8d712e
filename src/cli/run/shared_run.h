// What the supervisor and the guardian of one run both see, in memory they share.
//
// Either process may be stopped or killed at any moment, so nothing here is guarded by a lock: each
// field is one atomic, and the group is ended by whoever gets there first.

#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>

#include "holdfast/clock.h"
#include "holdfast/result.h"

namespace holdfast::cli {

/// Why the program's process group is being ended.
enum class EndCause : std::uint32_t {
  /// The program itself has ended and left others of its group behind.
  leftover = 1,
  /// The lease was not renewed and its deadline is near.
  jeopardy = 2,
  /// The engine says the lease is gone.
  lost = 4,
  supervisor_gone = 8,
  guardian_gone = 16,
  /// The lock is to be given up for somebody else.
  unwanted = 32,
};

struct SharedRun {
  /// BootClock; written by the supervisor after each renewal.
  std::atomic<std::int64_t> deadline_ns{0};
  std::atomic<std::int64_t> ttl_ns{0};
  /// When the group is killed; only ever moves to an earlier time.
  std::atomic<std::int64_t> kill_at_ns{std::numeric_limits<std::int64_t>::max()};
  /// The EndCauses so far.
  std::atomic<std::uint32_t> causes{0};
  /// The program's process group; 0 before it starts and once it is gone.
  std::atomic<pid_t> group{0};

  TimePoint deadline() const { return TimePoint{Duration{deadline_ns.load()}}; }
  Duration ttl() const { return Duration{ttl_ns.load()}; }
  void publish(TimePoint deadline, Duration ttl) {
    ttl_ns.store(ttl.count());
    deadline_ns.store(deadline.time_since_epoch().count());
  }
};

struct UnmapSharedRun {
  void operator()(SharedRun* run) const;
};
using SharedRunPtr = std::unique_ptr<SharedRun, UnmapSharedRun>;

/// Memory that stays shared across fork(). io_error: the operating system gave none.
Result<SharedRunPtr> map_shared_run();

}  // namespace holdfast::cli
