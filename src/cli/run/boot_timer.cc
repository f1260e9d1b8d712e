#include "cli/run/boot_timer.h"

#include <sys/timerfd.h>

#include <algorithm>

#include "base/assert.h"

namespace holdfast::cli {

BootTimer::BootTimer() : fd_{timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)} {
  HOLDFAST_ASSERT(fd_);
}

void BootTimer::arm(TimePoint at) {
  // All zero would disarm it.
  const Duration since_boot = std::max(at.time_since_epoch(), Duration{1});
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_boot);
  itimerspec spec{};
  spec.it_value.tv_sec = seconds.count();
  spec.it_value.tv_nsec = (since_boot - seconds).count();
  timerfd_settime(fd_.get(), TFD_TIMER_ABSTIME, &spec, nullptr);
}

}  // namespace holdfast::cli
