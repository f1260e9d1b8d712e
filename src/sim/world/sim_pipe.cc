#include "sim/world/sim_pipe.h"

#include <algorithm>
#include <utility>

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

constexpr Duration kAgainAfter = 200ms;
constexpr Duration kAgainAtMost = 2s;

}  // namespace

void SimPipe::send(std::uint64_t number, std::function<void()> arrive) {
  if (!open_) return;
  const auto message = std::make_shared<const Message>(
      Message{.place = ++sent_, .number = number, .arrive = std::move(arrive)});
  transmit(message, kAgainAfter);
}

void SimPipe::transmit(const std::shared_ptr<const Message>& message, Duration again_after) {
  network_.carry(from_, to_, direction_, message->number, [self = shared_from_this(), message] {
    self->take(*message);
  });
  scheduler_.after(again_after, [self = shared_from_this(), message, again_after] {
    const bool there = self->arrived_ >= message->place || self->early_.contains(message->place);
    if (self->open_ && !there) self->transmit(message, std::min(again_after * 2, kAgainAtMost));
  });
}

void SimPipe::take(const Message& message) {
  if (!open_ || message.place <= arrived_) return;
  early_.try_emplace(message.place, message.arrive);
  for (auto first = early_.begin(); open_ && first != early_.end() && first->first == arrived_ + 1;
       first = early_.begin()) {
    ++arrived_;
    const auto arrive = std::move(first->second);
    early_.erase(first);
    arrive();
  }
}

}  // namespace holdfast::sim
