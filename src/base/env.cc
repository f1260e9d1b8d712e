#include "base/env.h"

namespace holdfast {

Task<void> Env::sleep_until(TimePoint when) {
  if (now() >= when) co_return;
  const auto keep = [this, when](Parked task) { park(when, std::move(task)); };
  co_await suspend(keep);
}

Task<void> Env::sleep_for(Duration duration) { return sleep_until(now() + duration); }

}  // namespace holdfast
