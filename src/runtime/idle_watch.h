// IdleWatch: sleeps until something happens to the descriptors of a loop that nobody runs.
//
// One thread sleeps; others take the loop over and hand it back by disarm() and arm(), so that what
// happens in between does not wake it.
//
// Thread safety: any thread; one at a time in wait(), forget() and arm().

#pragma once

#include <cstdint>

#include "base/unique_fd.h"
#include "holdfast/clock.h"
#include "holdfast/result.h"

namespace holdfast::runtime {

class IdleWatch {
 public:
  /// io_error: the system refused.
  Result<void> open();

  /// Watches the descriptor until it is closed. Precondition: it is not watched.
  void add(int descriptor);

  /// What has happened so far is no reason to wake.
  void forget();

  /// What happens from now on, or has since forget(), wakes the one who sleeps, once.
  void arm();
  void disarm();

  /// Wakes the one who sleeps, or who will, after that time. Replaces an earlier call that has not
  /// been heard.
  void call_after(Duration delay);

  /// Sleeps until called, or until something happens while armed.
  void wait();

 private:
  void watch_happenings(std::uint32_t events);

  /// Ready when something has happened to what is watched.
  UniqueFd happenings_;
  UniqueFd calls_;
  /// Of these two.
  UniqueFd sleep_;
};

}  // namespace holdfast::runtime
