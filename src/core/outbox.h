// Outbox: what tasks of an Env have to tell callers, handed to a dispatcher together.
//
// Answers that come in one packet are told in one go: each by itself would wake the caller's
// thread for one of them, to find it asleep again for the next.
//
// Thread safety: put() within tasks of the Env, or as they are unwound; flush() also when there is
// no Env any more. Messages run on the dispatcher's thread.
// Lifetime: shared. The dispatcher outlives the last flush(), the Env the last put().

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/dispatcher.h"
#include "base/env.h"

namespace holdfast::core {

class Outbox : public std::enable_shared_from_this<Outbox> {
 public:
  Outbox(Env& env, Dispatcher& dispatcher) : env_{env}, dispatcher_{dispatcher} {}

  void put(std::function<void()> message) {
    messages_.push_back(std::move(message));
    if (messages_.size() == kTogether) return flush();
    if (messages_.size() > 1) return;
    env_.post([self = shared_from_this()] { self->flush(); });
  }

  /// So many are told without waiting for more: callers go on while the rest is read.
  static constexpr std::size_t kTogether = 16;

  void flush() {
    if (messages_.empty()) return;
    dispatcher_.post([messages = std::exchange(messages_, {})]() mutable {
      // Each goes once it is told: what it holds may be the last of something.
      for (auto& message : messages) std::exchange(message, nullptr)();
    });
  }

 private:
  Env& env_;
  Dispatcher& dispatcher_;
  std::vector<std::function<void()>> messages_;
};

}  // namespace holdfast::core
