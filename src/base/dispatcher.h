// Runs what users handed in, on a thread of its own, so that no callback can hold up the keeper.
//
// Thread safety: any thread. The thread starts with the first task.

#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace holdfast {

class Dispatcher {
 public:
  Dispatcher() = default;
  /// Runs what was posted before, then ends. May be called on the dispatcher's own thread.
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  void post(std::function<void()> task);
  bool on_its_thread() const { return std::this_thread::get_id() == thread_id_; }

  /// In a forked child: forgets the thread, which is not there.
  void abandon();

 private:
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<void()>> tasks;
    bool ending{false};
  };

  static void run(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_{std::make_shared<Shared>()};
  std::thread thread_;
  std::atomic<std::thread::id> thread_id_{};
};

}  // namespace holdfast
