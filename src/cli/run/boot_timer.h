// A timer on the boot-time clock, as something to poll. Fires at once after the machine slept past
// its time, which poll(2)'s own timeout does not.

#pragma once

#include "base/unique_fd.h"
#include "holdfast/clock.h"

namespace holdfast::cli {

class BootTimer {
 public:
  BootTimer();

  /// Readable from `at` on; replaces an earlier time.
  void arm(TimePoint at);
  int fd() const { return fd_.get(); }

 private:
  UniqueFd fd_;
};

}  // namespace holdfast::cli
