#include "base/awaited.h"

#include <algorithm>

namespace holdfast {

bool Awaited::sleep_until(TimePoint limit) {
  std::unique_lock lock{mutex_};
  const auto awake = [this] { return is_known() || roused_; };
  ++sleepers_;
  if (limit == TimePoint::max()) {
    wake_.wait(lock, awake);
  } else {
    wake_.wait_for(lock, std::max(limit - BootClock::now(), Duration{0}), awake);
  }
  --sleepers_;
  return is_known();
}

void Awaited::rouse() {
  {
    const std::lock_guard lock{mutex_};
    roused_ = true;
  }
  wake_.notify_all();
}

void Awaited::count_in(std::atomic<int>& count) {
  const std::lock_guard lock{mutex_};
  if (is_known() || counted_in_ != nullptr) return;
  counted_in_ = &count;
  count.fetch_add(1);
}

void Awaited::count_out() {
  const std::lock_guard lock{mutex_};
  stop_counting();
}

void Awaited::stop_counting() {
  if (counted_in_ != nullptr) counted_in_->fetch_sub(1);
  counted_in_ = nullptr;
}

}  // namespace holdfast
