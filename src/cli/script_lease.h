// Leases that outlive the command that took them: a script keeps them by their owners.

#pragma once

#include <optional>
#include <string>

#include "cli/console.h"
#include "holdfast/lease.h"

namespace holdfast::cli {

/// What is destroyed before it was handed over is released, the intent last.
struct ScriptLease {
  /// Of a writer: NAME~intent.
  std::optional<Lease> intent{};
  Lease lease;
};

/// Prints the lease, and lets it outlive this process. If it cannot be printed, nobody would ever
/// know its owner: then it is released, and the exit code is 74.
int hand_to_script(ScriptLease lease, const std::string& engine, Console& console);

}  // namespace holdfast::cli
