// What supervisor and guardian tell each other, over a pair of connected sockets.
//
// A message is sent whole or not at all. When one side dies, the other reads the end of the stream.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "cli/run/child.h"
#include "holdfast/result.h"
#include "holdfast/token.h"

namespace holdfast::cli {

/// From the supervisor: the lease is granted, start the program.
struct StartOrder {
  /// Of each lock, in the order of RunOptions::names.
  std::vector<std::string> owners;
  TerminalUse terminal{TerminalUse::on_demand};
  /// Assignments to add to the program's environment, as NAME=value.
  std::vector<std::string> environment;
};

/// From the guardian.
struct Report {
  enum class Kind : std::int32_t {
    /// value: the program's process id, which is its group's too.
    started,
    /// value: errno.
    could_not_start,
    /// value: the signal that stopped the program.
    stopped,
    /// value: as waitpid(2) gives it.
    exited,
    /// No process of the group is left.
    gone,
  };
  Kind kind{Kind::gone};
  std::int32_t value{0};
};

/// Two connected ends. io_error: the operating system gave none.
Result<std::pair<UniqueFd, UniqueFd>> open_channel();

void send_start(int fd, const StartOrder& order);
/// The supervisor has released the lock itself: nothing is left to do.
void send_done(int fd);
void send_report(int fd, const Report& report);

/// Waits for the order. Empty: the supervisor went away, or has nothing to start.
std::optional<StartOrder> receive_start(int fd);

enum class Incoming { nothing, message, end };

/// Without waiting.
Incoming receive_report(int fd, Report& report);
Incoming receive_done(int fd);

}  // namespace holdfast::cli
