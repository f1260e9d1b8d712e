// LoopTurn: whose turn it is to run an Env's loop.
//
// The loop has a thread of its own, its keeper. A thread that blocks for an answer takes the turn
// instead when nobody has it: then nobody has to be woken, neither for its request nor for the
// answer. Those who come while somebody has the turn sleep until they are answered. So that the
// turn is free for the next call, the keeper leaves it for a moment after the last one that waited
// was answered; whatever comes meanwhile from elsewhere calls the keeper back at once.
//
// Thread safety: any thread. What was done under a turn is seen by the next.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "base/awaited.h"

namespace holdfast::runtime {

class LoopTurn {
 public:
  /// How long the keeper leaves a free turn to callers. That late may be noticed, in a process
  /// that has just made a call, what the network or a timer brings.
  static constexpr Duration kLeave{std::chrono::milliseconds{1}};

  /// One who blocks for `answer`. False: somebody else has the turn, and `answer` counts as waited
  /// for until it is known or given up by count_out().
  bool take_as_caller(Awaited& answer);

  /// The keeper waits for the turn. False: it is over.
  bool take_as_keeper();

  /// The one who has the turn wants to leave it. False: something was handed to the loop meanwhile.
  /// It is to be run first.
  bool leave();

  /// Whether the keeper has answered callers and nobody waits any more.
  bool keeper_may_leave() const { return called_.load() && waiting_.load() == 0; }

  /// Something was handed to the loop by one who does not wait for it.
  void stir();

  /// The keeper is not to take it again.
  void end();

 private:
  void call_keeper();
  void wait_for_end_of_turn(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable keeper_;
  bool taken_{false};
  std::uint64_t turns_{0};
  /// The keeper is to take it as soon as it is free.
  bool keeper_called_{false};
  bool keeper_asleep_{false};
  bool over_{false};
  TimePoint left_at_{};
  std::atomic<bool> stirred_{false};
  /// Somebody waited since the turn was taken.
  std::atomic<bool> called_{false};
  std::atomic<int> waiting_{0};
};

}  // namespace holdfast::runtime
