// What a run amounts to: its exit code, and whether that is Holdfast's or the program's.

#pragma once

#include <optional>
#include <string>

#include "holdfast/error.h"

namespace holdfast::cli {

/// What is known when a run is over. The first of them that applies decides, in this order.
struct RunFacts {
  std::string name;
  std::string program;
  /// A signal ended the waiting for the lock. 0: none.
  int interrupted_by{0};
  /// The lock was not granted.
  std::optional<Error> refused{};
  /// The program could not be executed: errno. 0: it could.
  int start_error{0};
  /// The lease was lost, or in jeopardy so that the program was ended.
  std::optional<Error> lost{};
  /// As waitpid(2) gives it; empty: nobody could learn it.
  std::optional<int> wait_status{};
};

struct Verdict {
  int code{0};
  /// Whether the code is Holdfast's own.
  bool holdfast{false};
  /// One word: "exited", "signal", "interrupted", "could_not_start" or the name of an Errc.
  std::string reason;
  /// What to tell people; empty when the program speaks for itself.
  std::optional<Error> error{};
  /// The signal by which somebody asked the running program to end. 0: nobody did.
  int asked_to_end_by{0};
  /// For whom the lock was given up. Empty: for nobody.
  std::string successor{};
};

Verdict judge(const RunFacts& facts);

}  // namespace holdfast::cli
