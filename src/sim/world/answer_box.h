// AnswerBox: where one task waits for one answer from the network, with a deadline.
//
// An Alarm would do; a world waits for so many answers that a coroutine less for each is worth it.
//
// Thread safety: none. Lifetime: shared by the task and the messages; the Env outlives it.

#pragma once

#include <optional>

#include "base/env.h"

namespace holdfast::sim {

class AnswerBox {
 public:
  explicit AnswerBox(Env& env) : env_{env} {}
  AnswerBox(const AnswerBox&) = delete;
  AnswerBox& operator=(const AnswerBox&) = delete;

  /// Awaited, waits until call() or until `due`.
  auto wait_until(TimePoint due) {
    const auto keep = [this, due](Parked task) { waiting_ = env_.park(due, std::move(task)); };
    return suspend(keep);
  }

  /// The answer is there.
  void call() {
    if (waiting_) env_.wake(*waiting_);
  }

 private:
  Env& env_;
  std::optional<ParkingId> waiting_;
};

}  // namespace holdfast::sim
