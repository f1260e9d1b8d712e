#include "base/alarm.h"

#include <utility>

#include "base/assert.h"

namespace holdfast {

void Alarm::ring() {
  rung_ = true;
  if (waiting_) env_.wake(*waiting_);
}

Task<Wake> Alarm::wait_until(TimePoint due) {
  HOLDFAST_ASSERT(!waiting_);
  if (!rung_ && env_.now() < due) {
    const auto keep = [this, due](Parked task) { waiting_ = env_.park(due, std::move(task)); };
    co_await suspend(keep);
    waiting_.reset();
  }
  co_return std::exchange(rung_, false) ? Wake::rung : Wake::due;
}

}  // namespace holdfast
