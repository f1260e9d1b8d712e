#include "cli/run/run_program.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "cli/run/channel.h"
#include "cli/run/guardian.h"
#include "cli/run/supervisor.h"
#include "cli/signals.h"

namespace holdfast::cli {
namespace {

// A copy for ourselves; the original is closed, so that the program does not get it. The standard
// streams stay: they are the program's as well.
UniqueFd take_status_fd(int fd) {
  if (fd < 0) return UniqueFd{};
  UniqueFd copy{fcntl(fd, F_DUPFD_CLOEXEC, 3)};
  if (fd > STDERR_FILENO) close(fd);
  return copy;
}

UniqueFd open_passed_signals() {
  return open_signals({SIGINT,
                       SIGTERM,
                       SIGHUP,
                       SIGQUIT,
                       SIGUSR1,
                       SIGUSR2,
                       SIGWINCH,
                       SIGCONT,
                       SIGTSTP,
                       SIGTTOU,
                       SIGCHLD});
}

Verdict fail(Console& console, Error error) {
  return {.code = console.fail(error),
          .holdfast = true,
          .reason = std::string{to_string(error.code)},
          .error = std::move(error)};
}

}  // namespace

Verdict run_program(const RunOptions& options, Console& console) {
  auto shared = map_shared_run();
  if (!shared) return fail(console, shared.error());
  auto channel = open_channel();
  if (!channel) return fail(console, channel.error());

  // With SIGCHLD ignored, as some parents leave it, nobody could learn how the program ended.
  std::signal(SIGCHLD, SIG_DFL);
  sigset_t mask_before;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask_before);
  UniqueFd signals = open_passed_signals();
  UniqueFd status = take_status_fd(options.status_fd);
  // Should the guardian be killed, the program and what it started become our children.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::fflush(nullptr);

  const pid_t guardian = fork();
  if (guardian < 0) {
    return fail(console, {Errc::io_error, std::string{"cannot fork: "} + strerror(errno)});
  }
  if (guardian == 0) {
    channel->first.reset();
    status.reset();
    signals.reset();
    be_guardian(options, **shared, std::move(channel->second), mask_before);
  }
  channel->second.reset();
  // A reader of --status-fd or of our stderr that went away must not end the supervisor.
  std::signal(SIGPIPE, SIG_IGN);
  Supervisor supervisor{options,
                        **shared,
                        {.signals = std::move(signals),
                         .channel = std::move(channel->first),
                         .status = std::move(status),
                         .guardian = guardian}};
  return supervisor.run(console);
}

}  // namespace holdfast::cli
