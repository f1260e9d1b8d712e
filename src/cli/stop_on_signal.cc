#include "cli/stop_on_signal.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "cli/exit_code.h"
#include "cli/signals.h"

namespace holdfast::cli {

StopOnSignal::StopOnSignal()
    : signals_{open_signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT})},
      finished_{eventfd(0, EFD_CLOEXEC)},
      listener_{[this] { listen(); }} {}

StopOnSignal::~StopOnSignal() {
  eventfd_write(finished_.get(), 1);
  listener_.join();
}

void StopOnSignal::listen() {
  std::array<pollfd, 2> events{pollfd{signals_.get(), POLLIN, 0}, {finished_.get(), POLLIN, 0}};
  for (;;) {
    poll(events.data(), events.size(), -1);
    if (events[1].revents != 0) return;
    const int signal = next_signal(signals_.get());
    if (signal == 0) continue;
    // Whoever asks twice does not want to wait for a clean end.
    if (signal_.exchange(signal) != 0) _exit(exit_code_of_signal(signal));
    source_.request_stop();
  }
}

}  // namespace holdfast::cli
