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

#include "base/callback.h"

namespace holdfast::sim {

class RunQueue : public boost::asio::execution_context {
 public:
  class Executor {
   public:
    explicit Executor(RunQueue& queue) noexcept : queue_{&queue} {}

    RunQueue& query(boost::asio::execution::context_t) const noexcept { return *queue_; }
    boost::asio::execution::blocking_t query(boost::asio::execution::blocking_t) const noexcept {
      return blocking_;
    }
    Executor require(boost::asio::execution::blocking_t::never_t never) const noexcept {
      return Executor{*queue_, never};
    }
    Executor require(boost::asio::execution::blocking_t::possibly_t possibly) const noexcept {
      return Executor{*queue_, possibly};
    }

    /// At once, when that is allowed and a task of this queue is running; otherwise later.
    template <class F>
    void execute(F&& work) const {
      if (queue_->running_ && blocking_ == boost::asio::execution::blocking.possibly) {
        Work{std::forward<F>(work)}();
      } else {
        queue_->add(std::forward<F>(work));
      }
    }

    friend bool operator==(const Executor& one, const Executor& other) noexcept {
      return one.queue_ == other.queue_ && one.blocking_ == other.blocking_;
    }
    friend bool operator!=(const Executor& one, const Executor& other) noexcept {
      return !(one == other);
    }

   private:
    Executor(RunQueue& queue, boost::asio::execution::blocking_t blocking) noexcept
        : queue_{&queue}, blocking_{blocking} {}

    RunQueue* queue_;
    boost::asio::execution::blocking_t blocking_{boost::asio::execution::blocking.possibly};
  };

  RunQueue() = default;
  ~RunQueue() {
    clear();
    shutdown();
    destroy();
  }

  Executor get_executor() noexcept { return Executor{*this}; }

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
