// Turns the signals that end a command into a stop request, for calls that block.

#pragma once

#include <atomic>
#include <stop_token>
#include <thread>

#include "base/unique_fd.h"

namespace holdfast::cli {

/// While it lives, INT, TERM, HUP and QUIT request a stop instead of ending the process; a second
/// one ends it. Create it before any other thread, so that all of them leave these signals alone.
/// Signals the process was told to ignore stay ignored.
class StopOnSignal {
 public:
  StopOnSignal();
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

  std::stop_token token() const { return source_.get_token(); }
  /// The signal that came, or 0.
  int signal() const { return signal_.load(); }

 private:
  void listen();

  UniqueFd signals_;
  UniqueFd finished_;
  std::stop_source source_;
  std::atomic<int> signal_{0};
  std::thread listener_;
};

}  // namespace holdfast::cli
