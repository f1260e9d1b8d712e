#include "base/parking_lot.h"

#include <utility>

#include "base/assert.h"

namespace holdfast {

ParkingId ParkingLot::park(TimePoint due, Parked task) {
  const ParkingId id{due, next_sequence_++};
  const bool fresh = tasks_.emplace(id, std::move(task)).second;
  HOLDFAST_ASSERT(fresh);
  return id;
}

void ParkingLot::wake(ParkingId id) {
  auto node = tasks_.extract(id);
  if (!node.empty()) std::move(node.mapped()).resume();
}

void ParkingLot::wake_due(TimePoint now) {
  while (!tasks_.empty() && tasks_.begin()->first.due <= now) {
    auto node = tasks_.extract(tasks_.begin());
    std::move(node.mapped()).resume();
  }
}

std::optional<TimePoint> ParkingLot::next_due() const {
  if (tasks_.empty()) return std::nullopt;
  return tasks_.begin()->first.due;
}

void ParkingLot::clear() {
  // A task that unwinds may wake another one, so the map must be whole while they go.
  const auto doomed = std::exchange(tasks_, {});
}

}  // namespace holdfast
