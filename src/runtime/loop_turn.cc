#include "runtime/loop_turn.h"

#include <utility>

namespace holdfast::runtime {

bool LoopTurn::take_as_caller(Awaited& answer) {
  const std::lock_guard lock{mutex_};
  if (taken_) {
    answer.count_in(waiting_);
    called_.store(true);
    if (waiting_.load() == 1) lone_caller_ = &answer;
    return false;
  }
  if (std::exchange(armed_, false)) idle_.disarm();
  taken_ = true;
  by_caller_.store(true);
  nothing_to_run_ = false;
  keeper_called_ = false;
  return true;
}

bool LoopTurn::stop_waiting(Awaited& answer) {
  answer.count_out();
  const std::lock_guard lock{mutex_};
  if (lone_caller_ == &answer) lone_caller_ = nullptr;
  if (heir_ != &answer) return false;
  heir_ = nullptr;
  return true;
}

bool LoopTurn::give_to_caller() {
  if (waiting_.load() != 1) return false;
  const std::lock_guard lock{mutex_};
  return hand_to_lone_caller();
}

bool LoopTurn::hand_to_lone_caller() {
  if (lone_caller_ == nullptr || waiting_.load() != 1 || lone_caller_->is_known()) return false;
  heir_ = std::exchange(lone_caller_, nullptr);
  heir_->count_out();
  by_caller_.store(true);
  nothing_to_run_ = false;
  keeper_called_ = false;
  heir_->rouse();
  return true;
}

bool LoopTurn::take_as_keeper() {
  std::unique_lock lock{mutex_};
  while (!over_) {
    const bool calm = BootClock::now() - left_at_ >= kLeave;
    if (!taken_ && (keeper_called_ || (calm && !nothing_to_run_))) {
      keeper_called_ = false;
      taken_ = true;
      return true;
    }
    sleep(lock);
  }
  return false;
}

void LoopTurn::sleep(std::unique_lock<std::mutex>& lock) {
  armed_ = !taken_ && nothing_to_run_;
  alarm_set_ = !taken_ && !nothing_to_run_;
  if (armed_) idle_.arm();
  if (alarm_set_) idle_.call_after(left_at_ + kLeave - BootClock::now());
  keeper_sleeps_ = true;
  lock.unlock();
  idle_.wait();
  lock.lock();
  keeper_sleeps_ = false;
  alarm_set_ = false;
  // Nobody has taken the loop over since: whatever woke the keeper is to be run.
  if (std::exchange(armed_, false)) keeper_called_ = true;
}

bool LoopTurn::leave_as_caller() {
  const std::lock_guard lock{mutex_};
  if (hand_to_lone_caller()) return true;
  if (!leave()) return false;
  by_caller_.store(false);
  if (keeper_must_stay()) {
    call_keeper();
  } else if (keeper_sleeps_ && !std::exchange(alarm_set_, true)) {
    idle_.call_after(kLeave);
  }
  return true;
}

bool LoopTurn::leave_as_keeper() {
  const std::lock_guard lock{mutex_};
  const bool answered_callers = called_.load();
  if (!leave()) return false;
  nothing_to_run_ = !answered_callers;
  keeper_called_ = keeper_must_stay();
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
  if (!taken_ && nothing_to_run_) call_keeper();
}

void LoopTurn::end() {
  const std::lock_guard lock{mutex_};
  over_ = true;
  call_keeper();
}

void LoopTurn::call_keeper() {
  keeper_called_ = true;
  if (keeper_sleeps_) idle_.call_after(Duration{0});
}

}  // namespace holdfast::runtime
