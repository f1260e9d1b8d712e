#include "cli/exit_code.h"

#include <sys/wait.h>

#include <cerrno>

namespace holdfast::cli {

ExitCode exit_code_of(Errc code) noexcept {
  switch (code) {
    case Errc::busy:
    case Errc::timeout:
    case Errc::cancelled:
    case Errc::in_progress:
      return ExitCode::busy;
    case Errc::unavailable:
    case Errc::unknown_outcome:
      return ExitCode::unavailable;
    case Errc::lost:
      return ExitCode::lost;
    case Errc::stale_token:
    case Errc::wrong_domain:
      return ExitCode::stale_token;
    case Errc::version_conflict:
    case Errc::too_many_conflicts:
      return ExitCode::version_conflict;
    case Errc::not_found:
      return ExitCode::not_found;
    case Errc::denied:
      return ExitCode::denied;
    case Errc::invalid_argument:
    case Errc::unsupported:
      return ExitCode::bad_input;
    case Errc::corrupt:
    case Errc::io_error:
    case Errc::no_space:
      return ExitCode::io;
    case Errc::shutting_down:
    case Errc::internal:
      return ExitCode::internal;
  }
  return ExitCode::internal;
}

ExitCode exit_code_of_exec(int error) noexcept {
  return error == ENOENT ? ExitCode::command_not_found : ExitCode::cannot_execute;
}

int exit_code_of_wait(int wait_status) noexcept {
  return WIFSIGNALED(wait_status) ? exit_code_of_signal(WTERMSIG(wait_status))
                                  : WEXITSTATUS(wait_status);
}

}  // namespace holdfast::cli
