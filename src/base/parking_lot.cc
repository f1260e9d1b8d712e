#include "base/parking_lot.h"

#include <utility>

namespace holdfast {

ParkingId ParkingLot::park(TimePoint due, Parked task) {
  const ParkingId id{due, next_sequence_++};
  if (spare_.empty()) {
    tasks_.emplace(id, std::move(task));
    return id;
  }
  auto node = std::move(spare_.back());
  spare_.pop_back();
  node.key() = id;
  node.mapped() = std::move(task);
  tasks_.insert(std::move(node));
  return id;
}

void ParkingLot::wake(ParkingId id) {
  auto node = tasks_.extract(id);
  if (!node.empty()) resume(std::move(node));
}

void ParkingLot::wake_due(TimePoint now) {
  while (!tasks_.empty() && tasks_.begin()->first.due <= now) {
    resume(tasks_.extract(tasks_.begin()));
  }
}

void ParkingLot::resume(Tasks::node_type node) {
  constexpr std::size_t kSpareMax = 64;
  std::move(node.mapped()).resume();
  if (spare_.size() < kSpareMax) spare_.push_back(std::move(node));
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
