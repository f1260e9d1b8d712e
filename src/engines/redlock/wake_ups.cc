#include "engines/redlock/wake_ups.h"

#include <algorithm>
#include <utility>

#include "engines/redlock/node_set.h"

namespace holdfast::redlock {

WakeUps::Waiter::Waiter(Env& env, std::shared_ptr<WakeUps> wake_ups, std::string channel)
    : changed{env},
      wake_ups_{std::move(wake_ups)},
      channel_{std::move(channel)},
      spoken_(wake_ups_->nodes_.size()) {
  const bool first = !wake_ups_->waiters_.contains(channel_);
  wake_ups_->waiters_.emplace(channel_, this);
  if (first) wake_ups_->subscribe(channel_);
}

WakeUps::Waiter::~Waiter() {
  auto& waiters = wake_ups_->waiters_;
  const auto [begin, end] = waiters.equal_range(channel_);
  waiters.erase(std::find_if(begin, end, [this](const auto& one) { return one.second == this; }));
  if (waiters.contains(channel_)) return;
  for (const auto& node : wake_ups_->nodes_) node->unsubscribe(channel_);
}

void WakeUps::Waiter::forget() { spoken_.assign(spoken_.size(), false); }

bool WakeUps::Waiter::called() const {
  const auto spoken = static_cast<std::size_t>(std::ranges::count(spoken_, true));
  return spoken >= majority(spoken_.size());
}

void WakeUps::Waiter::hear(std::size_t node) {
  spoken_[node] = true;
  if (called()) changed.ring();
}

std::shared_ptr<WakeUps::Waiter> WakeUps::enter(std::string channel) {
  return std::make_shared<Waiter>(env_, shared_from_this(), std::move(channel));
}

void WakeUps::subscribe(const std::string& channel) {
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    auto on_heard = [weak = weak_from_this(), channel, node](const redis::Heard&) {
      if (const auto self = weak.lock()) self->hear(channel, node);
    };
    nodes_[node]->subscribe(channel, std::move(on_heard));
  }
}

void WakeUps::hear(const std::string& channel, std::size_t node) {
  const auto [begin, end] = waiters_.equal_range(channel);
  for (auto one = begin; one != end; ++one) one->second->hear(node);
}

}  // namespace holdfast::redlock
