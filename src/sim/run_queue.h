// RunQueue: the ready tasks of one simulated process, run one at a time when the world says so.
//
// It is an Asio execution context with nothing in it but a queue: worlds come and go by the
// thousand a second, and an io_context would bring an epoll descriptor to each.
//
// Thread safety: none.

#pragma once

#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <utility>
#include <vector>

#include "sim/work.h"

namespace holdfast::sim {

class RunQueue : public boost::asio::execution_context {
 public:
  class Executor {
   public:
    explicit Executor(RunQueue& queue) noexcept : queue_{&queue} {}

    RunQueue& query(boost::asio::execution::context_t) const noexcept { return *queue_; }
    static constexpr boost::asio::execution::blocking_t query(
        boost::asio::execution::blocking_t) noexcept {
      return boost::asio::execution::blocking.never;
    }
    Executor require(boost::asio::execution::blocking_t::never_t) const noexcept { return *this; }

    template <class F>
    void execute(F&& work) const {
      queue_->ready_.emplace_back(std::forward<F>(work));
    }

    friend bool operator==(const Executor& one, const Executor& other) noexcept {
      return one.queue_ == other.queue_;
    }
    friend bool operator!=(const Executor& one, const Executor& other) noexcept {
      return one.queue_ != other.queue_;
    }

   private:
    RunQueue* queue_;
  };

  RunQueue() = default;
  ~RunQueue() {
    clear();
    shutdown();
    destroy();
  }

  Executor get_executor() noexcept { return Executor{*this}; }

  bool empty() const { return next_ == ready_.size(); }

  /// Precondition: not empty.
  void run_one() {
    Work work = std::move(ready_[next_++]);
    if (empty()) {
      ready_.clear();
      next_ = 0;
    }
    work();
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
};

}  // namespace holdfast::sim
