#include "base/dispatcher.h"

#include <utility>

#include "base/signals_blocked.h"

namespace holdfast {

Dispatcher::~Dispatcher() {
  {
    const std::lock_guard lock{shared_->mutex};
    shared_->ending = true;
  }
  shared_->changed.notify_all();
  if (!thread_.joinable()) return;
  if (on_its_thread()) {
    // What was posted may use what our owner is about to destroy.
    run(shared_);
    thread_.detach();
  } else {
    thread_.join();
  }
}

void Dispatcher::post(std::function<void()> task) {
  const std::lock_guard lock{shared_->mutex};
  shared_->tasks.push_back(std::move(task));
  shared_->changed.notify_all();
  if (thread_.joinable()) return;
  const SignalsBlocked blocked;
  thread_ = std::thread{[shared = shared_] { run(shared); }};
  thread_id_.store(thread_.get_id());
}

void Dispatcher::run(const std::shared_ptr<Shared>& shared) {
  std::unique_lock lock{shared->mutex};
  while (true) {
    shared->changed.wait(lock, [&] { return shared->ending || !shared->tasks.empty(); });
    if (shared->tasks.empty()) return;
    auto task = std::move(shared->tasks.front());
    shared->tasks.pop_front();
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
  }
}

void Dispatcher::abandon() {
  // Somebody may have had the mutex when the process was forked.
  new std::shared_ptr<Shared>{std::exchange(shared_, std::make_shared<Shared>())};
  if (thread_.joinable()) thread_.detach();
}

}  // namespace holdfast
