#include "base/env.h"

#include <utility>

namespace holdfast {

bool Env::spawn_and_wait(Task<void> task, Awaited& answer, TimePoint limit) {
  spawn(std::move(task));
  return answer.sleep_until(limit);
}

Task<void> Env::sleep_until(TimePoint when) {
  if (now() >= when) co_return;
  const auto keep = [this, when](Parked task) { park(when, std::move(task)); };
  co_await suspend(keep);
}

Task<void> Env::sleep_for(Duration duration) { return sleep_until(now() + duration); }

}  // namespace holdfast
