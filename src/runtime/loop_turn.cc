#include "runtime/loop_turn.h"

namespace holdfast::runtime {

bool LoopTurn::take_as_caller(Awaited& answer) {
  const std::lock_guard lock{mutex_};
  if (taken_) {
    answer.count_in(waiting_);
    called_.store(true);
    return false;
  }
  if (keeper_ == Keeper::idle) {
    keeper_ = Keeper::idle_in_vain;
    idle_.disarm();
  }
  taken_ = true;
  by_caller_.store(true);
  nothing_to_run_ = false;
  ++turns_;
  keeper_called_ = false;
  return true;
}

bool LoopTurn::take_as_keeper() {
  std::unique_lock lock{mutex_};
  while (!over_) {
    if (taken_) {
      wait_for_end_of_turn(lock);
      continue;
    }
    const Duration left_for = BootClock::now() - left_at_;
    if (keeper_called_ || (left_for >= kLeave && !nothing_to_run_)) {
      keeper_called_ = false;
      taken_ = true;
      return true;
    }
    if (nothing_to_run_) {
      sleep_idle(lock);
    } else {
      wake_keeper_.wait_for(lock, kLeave - left_for);
    }
  }
  return false;
}

void LoopTurn::sleep_idle(std::unique_lock<std::mutex>& lock) {
  keeper_ = Keeper::idle;
  idle_.arm();
  lock.unlock();
  idle_.wait();
  lock.lock();
  // Nobody called and nobody took the loop over: something has happened to it.
  if (keeper_ == Keeper::idle) keeper_called_ = true;
  keeper_ = Keeper::awake;
}

// Short turns follow each other quickly, and none of them is to wake the keeper: it looks by
// itself. Only one that lasts has to.
void LoopTurn::wait_for_end_of_turn(std::unique_lock<std::mutex>& lock) {
  const std::uint64_t turn = turns_;
  wake_keeper_.wait_for(lock, kLeave);
  if (!taken_ || turns_ != turn || over_) return;
  keeper_asleep_ = true;
  wake_keeper_.wait(lock);
  keeper_asleep_ = false;
}

bool LoopTurn::leave_as_caller() {
  const std::lock_guard lock{mutex_};
  if (!leave()) return false;
  by_caller_.store(false);
  if (keeper_must_stay()) {
    call_keeper();
  } else if (keeper_asleep_) {
    // It has a moment to wait, and does not know since when.
    wake_keeper_.notify_one();
  } else if (keeper_ == Keeper::idle_in_vain) {
    idle_.call();
  }
  return true;
}

bool LoopTurn::leave_as_keeper() {
  const std::lock_guard lock{mutex_};
  const bool answered_callers = called_.load();
  if (!leave()) return false;
  nothing_to_run_ = !answered_callers;
  if (keeper_must_stay()) keeper_called_ = true;
  return true;
}

bool LoopTurn::leave() {
  if (stirred_.exchange(false)) return false;
  taken_ = false;
  called_.store(false);
  left_at_ = BootClock::now();
  return true;
}

void LoopTurn::stir() {
  const std::lock_guard lock{mutex_};
  if (taken_) {
    stirred_.store(true);
  } else {
    call_keeper();
  }
}

void LoopTurn::stir_quietly() {
  const std::lock_guard lock{mutex_};
  if (!taken_ && keeper_ == Keeper::idle) call_keeper();
}

void LoopTurn::end() {
  const std::lock_guard lock{mutex_};
  over_ = true;
  call_keeper();
}

void LoopTurn::call_keeper() {
  keeper_called_ = true;
  if (keeper_ == Keeper::awake) {
    wake_keeper_.notify_one();
  } else {
    idle_.call();
  }
}

}  // namespace holdfast::runtime
