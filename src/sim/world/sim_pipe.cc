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

void SimPipe::transmit(const MessagePtr& message, Duration again_after) {
  network_.carry(from_, to_, direction_, message->number, [self = shared_from_this(), message] {
    self->take(message);
  });
  look_after(message, again_after);
}

// Until it has arrived in its turn, which also keeps it until then.
void SimPipe::look_after(const MessagePtr& message, Duration again_after) {
  scheduler_.after(again_after, [self = shared_from_this(), message, again_after] {
    if (!self->open_ || self->arrived_ >= message->place) return;
    const Duration next = std::min(again_after * 2, kAgainAtMost);
    const bool there = self->early_.contains(message->place);
    there ? self->look_after(message, next) : self->transmit(message, next);
  });
}

void SimPipe::take(const MessagePtr& message) {
  if (!open_ || message->place <= arrived_) return;
  early_.try_emplace(message->place, message);
  for (auto first = early_.begin(); open_ && first != early_.end() && first->first == arrived_ + 1;
       first = early_.begin()) {
    ++arrived_;
    const MessagePtr next = first->second.lock();
    early_.erase(first);
    if (next) next->arrive();
  }
}

}  // namespace holdfast::sim
