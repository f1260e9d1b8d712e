#include "recipes/gathering.h"

#include <utility>

namespace holdfast::recipes {

void Gathering::arrive() {
  const std::lock_guard lock{mutex_};
  if (--missing_ == 0 && waiting_) std::move(*waiting_).resume();
}

Task<void> Gathering::all_here() {
  const auto keep = [this](Parked task) { park(std::move(task)); };
  co_await suspend(keep);
  // Whoever resumed us has left our executor when the mutex is free.
  const std::lock_guard lock{mutex_};
}

void Gathering::park(Parked task) {
  {
    const std::lock_guard lock{mutex_};
    if (missing_ > 0) {
      waiting_.emplace(std::move(task));
      return;
    }
  }
  std::move(task).resume();
}

}  // namespace holdfast::recipes
