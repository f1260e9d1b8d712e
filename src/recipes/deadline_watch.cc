#include "recipes/deadline_watch.h"

#include <algorithm>
#include <utility>

#include "base/fork.h"

namespace holdfast::recipes {
namespace {

/// The condition's clock stands still while the machine sleeps, and deadlines do not.
constexpr Duration kLook = std::chrono::seconds{1};

}  // namespace

DeadlineWatch::DeadlineWatch(std::function<TimePoint()> deadline, std::function<void()> on_passed)
    : generation_{fork_generation()}, shared_{std::make_shared<Shared>()} {
  shared_->deadline = std::move(deadline);
  shared_->on_passed = std::move(on_passed);
  thread_.post([shared = shared_] { watch(*shared); });
}

DeadlineWatch::~DeadlineWatch() {
  if (fork_generation() != generation_) {
    // Somebody may have had the mutex when the process was forked.
    new std::shared_ptr<Shared>{std::move(shared_)};
    thread_.abandon();
    return;
  }
  {
    const std::lock_guard lock{shared_->mutex};
    shared_->over = true;
  }
  shared_->over_changed.notify_all();
}

void DeadlineWatch::watch(Shared& shared) {
  std::unique_lock lock{shared.mutex};
  while (!shared.over) {
    const TimePoint deadline = shared.deadline();
    const TimePoint now = BootClock::now();
    if (now >= deadline) {
      lock.unlock();
      shared.on_passed();
      return;
    }
    shared.over_changed.wait_for(
        lock, std::min(deadline - now, kLook), [&] { return shared.over; });
  }
}

}  // namespace holdfast::recipes
