// Suspended tasks in the order in which they are due: what an Env keeps its sleepers in.
//
// Thread safety: none; it belongs to one Env.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/parked.h"
#include "holdfast/clock.h"

namespace holdfast {

/// Names one parked task. Tasks due at the same time wake in the order in which they were parked.
struct ParkingId {
  TimePoint due;
  std::uint64_t sequence{0};

  friend constexpr auto operator<=>(const ParkingId&, const ParkingId&) = default;
};

class ParkingLot {
 public:
  ParkingLot() = default;
  /// Unwinds every task that is still parked.
  ~ParkingLot() { clear(); }
  ParkingLot(const ParkingLot&) = delete;
  ParkingLot& operator=(const ParkingLot&) = delete;

  ParkingId park(TimePoint due, Parked task);

  /// Resumes one task before it is due. Without effect when it was resumed already.
  void wake(ParkingId id);

  /// Resumes every task that is due by `now`.
  void wake_due(TimePoint now);

  /// When the first task is due. Empty when nothing is parked.
  std::optional<TimePoint> next_due() const;

  /// Unwinds every parked task.
  void clear();

 private:
  using Tasks = std::map<ParkingId, Parked>;

  void resume(Tasks::node_type node);

  Tasks tasks_;
  /// Tasks park and leave all the time: nodes are kept for the next.
  std::vector<Tasks::node_type> spare_;
  std::uint64_t next_sequence_{0};
};

}  // namespace holdfast
