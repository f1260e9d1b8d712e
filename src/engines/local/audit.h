// The record of what administrators forced: one JSON object a line in `<directory>/audit.log`.

#pragma once

#include <string>
#include <string_view>

#include "holdfast/inspect.h"
#include "holdfast/result.h"

namespace holdfast::local {

/// Puts the forced release of a lock, as it was, on record. denied, no_space, io_error: it is not.
Result<void> audit_break(const std::string& directory, const LockInfo& lock, std::string_view why);

/// A resource moved from one lock to another.
struct RebaseRecord {
  std::string resource;
  std::string from;
  std::string to;
  /// The highest token it had seen.
  Token highest{0};
  std::string why;
};

/// Puts the move of a resource on record. denied, no_space, io_error: it is not.
Result<void> audit_rebase(const std::string& directory, const RebaseRecord& record);

}  // namespace holdfast::local
