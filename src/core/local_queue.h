// LocalQueue: one process queues once per exclusive name at its engine; its own tasks queue here
// behind that, first come first served.
//
// Shared and permit requests enter at once: the engine admits several of them together.
//
// Thread safety: as Env; the stop_token may be triggered from any thread.
// Lifetime: the Env outlives the queue. Turns may outlive it.

#pragma once

#include <memory>
#include <stop_token>

#include "base/env.h"
#include "base/ids.h"
#include "core/admission.h"
#include "holdfast/result.h"
#include "holdfast/token.h"

namespace holdfast::core {

class LocalQueue {
  struct Line;
  struct State;

 public:
  /// The right to be at the engine for a name. Keep it while the request is there and let it go
  /// when the engine has answered; the next task enters then.
  class [[nodiscard]] Turn {
   public:
    Turn(Turn&&) noexcept = default;
    Turn& operator=(Turn&& other) noexcept;
    ~Turn() { let_go(); }

    void let_go() noexcept;
    /// others: it had to wait for its turn.
    Met met() const { return met_; }

   private:
    friend class LocalQueue;
    Turn(std::shared_ptr<State> state, LockName name, Met met);
    std::shared_ptr<State> state_;
    LockName name_;
    Met met_;
  };

  explicit LocalQueue(Env& env);

  /// Waits for the turn until `give_up_at`.
  /// timeout, cancelled: it did not come in time; nothing remains in the queue.
  Task<Result<Turn>> enter(LockName name, Mode mode, TimePoint give_up_at, std::stop_token stop);

  /// How many names somebody is at the engine for or waits for.
  std::size_t names() const;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace holdfast::core
