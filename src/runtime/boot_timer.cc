#include "runtime/boot_timer.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>

#include "base/assert.h"

namespace holdfast::runtime {

Result<void> BootTimer::open(std::function<void()> on_due) {
  const int fd = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
  if (fd < 0) {
    return Unexpected{Error{Errc::io_error, "no timer: " + std::generic_category().message(errno)}};
  }
  boost::system::error_code failed;
  descriptor_.assign(fd, failed);
  if (failed) {
    close(fd);
    return Unexpected{Error{Errc::io_error, "no timer: " + failed.message()}};
  }
  on_due_ = std::move(on_due);
  wait();
  return {};
}

void BootTimer::set(TimePoint when) {
  // A time of zero would disarm the timer instead of going off at once.
  const Duration since_boot = std::max(when.time_since_epoch(), Duration{1});
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_boot);
  itimerspec spec{};
  spec.it_value.tv_sec = seconds.count();
  spec.it_value.tv_nsec = (since_boot - seconds).count();
  const int failed =
      timerfd_settime(descriptor_.native_handle(), TFD_TIMER_ABSTIME, &spec, nullptr);
  HOLDFAST_ASSERT(failed == 0);
}

void BootTimer::wait() {
  const auto gone_off = [this](const boost::system::error_code& failed) {
    if (failed) return;
    std::uint64_t times = 0;
    // Nothing to read: the timer was set anew after it had gone off, and the new time will come.
    const bool due = read(descriptor_.native_handle(), &times, sizeof times) == sizeof times;
    if (due) on_due_();
    wait();
  };
  descriptor_.async_wait(boost::asio::posix::stream_descriptor::wait_read, gone_off);
}

}  // namespace holdfast::runtime
