#include "cli/run/verdict.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <cstring>

#include "cli/exit_code.h"

namespace holdfast::cli {
namespace {

Verdict of_error(const Error& error) {
  return {.code = to_int(exit_code_of(error.code)),
          .holdfast = true,
          .reason = std::string{to_string(error.code)},
          .error = error};
}

}  // namespace

Verdict judge(const RunFacts& facts) {
  if (facts.interrupted_by != 0) {
    return {.code = exit_code_of_signal(facts.interrupted_by),
            .holdfast = true,
            .reason = "interrupted",
            .error = {}};
  }
  if (facts.refused) return of_error(*facts.refused);
  if (facts.start_error != 0) {
    return {.code = to_int(exit_code_of_exec(facts.start_error)),
            .holdfast = true,
            .reason = "could_not_start",
            .error = Error{
                Errc::invalid_argument,
                fmt::format("cannot run '{}': {}", facts.program, std::strerror(facts.start_error)),
                "check the program's name, its permissions and PATH"}};
  }
  if (facts.lost) return of_error(*facts.lost);
  if (!facts.wait_status) {
    return of_error({Errc::internal,
                     fmt::format("the guardian of '{}' died; the program was ended", facts.name),
                     "check what ended the process named holdfast-guard"});
  }
  return {.code = exit_code_of_wait(*facts.wait_status),
          .holdfast = false,
          .reason = WIFSIGNALED(*facts.wait_status) ? "signal" : "exited",
          .error = {}};
}

}  // namespace holdfast::cli
