// LoopTurn: whose turn it is to run an Env's loop.
//
// The loop has a thread of its own, its keeper. A thread that blocks for an answer takes the turn
// instead when nobody has it: then nobody has to be woken, neither for its request nor for the
// answer. Those who come while somebody has the turn sleep until they are answered.
//
// So that the turn is free for callers, the keeper has it only while there is something to run or
// several wait; otherwise it sleeps beside the loop (idle_watch.h). One who waits alone is roused
// and gets the turn, while the server still works at its request. A caller does not wake the keeper
// on leaving: it looks by itself after a moment in which nobody called.
//
// Thread safety: any thread. What was done under a turn is seen by the next.

#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "base/awaited.h"
#include "runtime/idle_watch.h"

namespace holdfast::runtime {

class LoopTurn {
 public:
  /// How long the keeper leaves a free turn to callers. That late may be noticed, in a process
  /// that has just made a call, what the network or a timer brings.
  static constexpr Duration kLeave{std::chrono::milliseconds{1}};

  /// io_error: the system refused.
  Result<void> open() { return idle_.open(); }

  /// What happens to this descriptor of the loop calls the keeper. Once, when it is opened.
  void watch(int descriptor) { idle_.add(descriptor); }

  /// One who blocks for `answer`. False: somebody else has the turn, and `answer` counts as waited
  /// for until it is known. It sleeps then, and calls stop_waiting() afterwards.
  bool take_as_caller(Awaited& answer);

  /// Who slept for `answer` is awake. True: it was roused because it has the turn now.
  bool stop_waiting(Awaited& answer);

  /// The keeper gives the turn to a caller who waits alone. False: there is none, it keeps it.
  bool give_to_caller();

  /// The keeper waits for the turn, until there is something to do. False: it is over.
  bool take_as_keeper();

  /// A caller wants to leave the turn. False: something was handed to the loop meanwhile. It is to
  /// be run first.
  bool leave_as_caller();

  /// The same of the keeper. What happened before forget_happenings() does not bring it back.
  bool leave_as_keeper();
  void forget_happenings() { idle_.forget(); }

  /// Whether the keeper has answered callers and nobody waits any more.
  bool keeper_may_leave() const { return called_.load() && !keeper_must_stay(); }
  /// Whether the keeper is to run the loop, even if nothing happens.
  bool keeper_must_stay() const { return waiting_.load() > 0 || unwatched_.load() > 0; }

  /// Whether the caller who has the turn is the only one who waits for something.
  bool caller_is_alone() const { return by_caller_.load() && waiting_.load() == 0; }

  /// Something was handed to the loop by one who does not wait for it.
  void stir();
  /// The same, and it may be run a moment later.
  void stir_quietly();

  /// Something is under way that no watched descriptor will tell of.
  void begin_unwatched() { unwatched_.fetch_add(1); }
  void end_unwatched() { unwatched_.fetch_sub(1); }

  /// The keeper is not to take it again.
  void end();

 private:
  bool leave();
  bool hand_to_lone_caller();
  void sleep(std::unique_lock<std::mutex>& lock);
  void call_keeper();

  IdleWatch idle_;
  std::mutex mutex_;
  bool taken_{false};
  bool over_{false};
  TimePoint left_at_{};
  /// The keeper is to take it as soon as it is free.
  bool keeper_called_{true};
  /// The keeper has run everything, and nobody has had the turn since.
  bool nothing_to_run_{false};
  bool keeper_sleeps_{false};
  /// It will wake by itself, or wakes when something happens.
  bool alarm_set_{false};
  bool armed_{false};
  /// Who began to wait when nobody else did, until it is awake.
  Awaited* lone_caller_{nullptr};
  /// Who has been roused to take the turn, until it knows.
  Awaited* heir_{nullptr};
  std::atomic<bool> by_caller_{false};
  std::atomic<bool> stirred_{false};
  /// Somebody waited since the turn was taken.
  std::atomic<bool> called_{false};
  std::atomic<int> waiting_{0};
  std::atomic<int> unwatched_{0};
};

}  // namespace holdfast::runtime
