// RunQueue: the ready tasks of one simulated process, run one at a time when the world says so.
//
// Thread safety: none.

#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/callback.h"

namespace holdfast::sim {

class RunQueue {
 public:
  RunQueue() = default;
  ~RunQueue() { clear(); }
  RunQueue(const RunQueue&) = delete;
  RunQueue& operator=(const RunQueue&) = delete;

  /// At once, when a task of this queue is running; otherwise later.
  template <class F>
  void run_or_add(F work) {
    if (running_) {
      work();
    } else {
      add(std::move(work));
    }
  }

  template <class F>
  void add(F&& work) {
    ready_.emplace_back(std::forward<F>(work));
  }

  bool empty() const { return next_ == ready_.size(); }

  /// Precondition: not empty.
  void run_one() {
    Work work = std::move(ready_[next_++]);
    if (empty()) {
      ready_.clear();
      next_ = 0;
    }
    running_ = true;
    work();
    running_ = false;
  }

  /// Unwinds what is ready. What is being unwound may make other work ready; that goes too.
  void clear() {
    while (!ready_.empty()) {
      const auto doomed = std::exchange(ready_, {});
      next_ = 0;
    }
  }

 private:
  std::vector<Work> ready_;
  std::size_t next_{0};
  bool running_{false};
};

}  // namespace holdfast::sim
