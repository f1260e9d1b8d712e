// What tests need that watch, on a thread of their own, what happens in an Env.

#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <functional>
#include <future>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/env.h"

namespace holdfast::servers {

/// Far longer than anything here takes; a test that needs it fails.
inline constexpr std::chrono::seconds kBound{60};

template <class T>
T get(std::future<T> future) {
  // A broken promise tells more than a test that hangs.
  if (future.wait_for(kBound) != std::future_status::ready) std::abort();
  return future.get();
}

/// Runs `work` between tasks of the Env and waits for it.
inline void run_on(Env& env, const std::function<void()>& work) {
  std::promise<void> done;
  auto future = done.get_future();
  env.post([&] {
    work();
    done.set_value();
  });
  get(std::move(future));
}

/// Events with a `kind`, told on one thread and waited for on another. Thread safety: any thread.
template <class Event>
class EventBox {
 public:
  using Kind = decltype(Event::kind);

  void put(const Event& event) {
    const std::lock_guard lock{mutex_};
    events_.push_back(event);
    changed_.notify_all();
  }

  /// The next event of this kind, waited for; those before are dropped. Aborts when none comes.
  Event next(Kind kind) {
    std::unique_lock lock{mutex_};
    std::optional<Event> found;
    const auto comes = [&] {
      while (!found && !events_.empty()) {
        if (events_.front().kind == kind) found = std::move(events_.front());
        events_.pop_front();
      }
      return found.has_value();
    };
    if (!changed_.wait_for(lock, kBound, comes)) std::abort();
    return *found;
  }

  /// Whether there was one since the last looked at.
  bool was_told(Kind kind) {
    const std::lock_guard lock{mutex_};
    for (const Event& event : events_) {
      if (event.kind == kind) return true;
    }
    return false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Event> events_;
};

/// Tells when the last copy of it goes.
struct Witness {
  std::promise<void> gone;
  ~Witness() { gone.set_value(); }
};

/// Of this process.
inline std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, {});
}

}  // namespace holdfast::servers
