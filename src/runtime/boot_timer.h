// BootTimer: calls back at a time of CLOCK_BOOTTIME. Asio's own timers stand still while the
// machine is suspended.
//
// Thread safety: none; it belongs to the thread that runs the io_context.

#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>

#include "holdfast/clock.h"
#include "holdfast/result.h"

namespace holdfast::runtime {

class BootTimer {
 public:
  explicit BootTimer(boost::asio::io_context& context) : descriptor_{context} {}

  /// Opens the timer; `on_due` is called on the io_context's thread whenever it has gone off.
  /// io_error: the system refused.
  Result<void> open(std::function<void()> on_due);

  /// Goes off at `when`, or at once if that has passed. Replaces the time set before.
  void set(TimePoint when);

  /// Ready whenever it has gone off. Precondition: open.
  int descriptor() { return descriptor_.native_handle(); }

 private:
  void wait();

  boost::asio::posix::stream_descriptor descriptor_;
  std::function<void()> on_due_;
};

}  // namespace holdfast::runtime
