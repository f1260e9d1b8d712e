#include "runtime/loop_turn.h"

namespace holdfast::runtime {

bool LoopTurn::take_as_caller(Awaited& answer) {
  const std::lock_guard lock{mutex_};
  if (taken_) {
    answer.count_in(waiting_);
    called_.store(true);
    return false;
  }
  taken_ = true;
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
    if (keeper_called_ || left_for >= kLeave) {
      keeper_called_ = false;
      taken_ = true;
      return true;
    }
    keeper_.wait_for(lock, kLeave - left_for);
  }
  return false;
}

// Short turns follow each other quickly, and none of them is to wake the keeper: it looks by
// itself. Only one that lasts has to.
void LoopTurn::wait_for_end_of_turn(std::unique_lock<std::mutex>& lock) {
  const std::uint64_t turn = turns_;
  keeper_.wait_for(lock, kLeave);
  if (!taken_ || turns_ != turn || over_) return;
  keeper_asleep_ = true;
  keeper_.wait(lock);
  keeper_asleep_ = false;
}

bool LoopTurn::leave() {
  const std::lock_guard lock{mutex_};
  if (stirred_.exchange(false)) return false;
  taken_ = false;
  called_.store(false);
  left_at_ = BootClock::now();
  if (waiting_.load() > 0) {
    call_keeper();
  } else if (keeper_asleep_) {
    // It has a moment to wait, and does not know since when.
    keeper_.notify_one();
  }
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

void LoopTurn::end() {
  const std::lock_guard lock{mutex_};
  over_ = true;
  keeper_.notify_one();
}

void LoopTurn::call_keeper() {
  keeper_called_ = true;
  keeper_.notify_one();
}

}  // namespace holdfast::runtime
