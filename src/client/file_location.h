// Where a fenced file is, and the files that belong to it.

#pragma once

#include <cstdint>
#include <string>

#include "holdfast/result.h"
#include "holdfast/store_types.h"

namespace holdfast::files {

/// Absolute, symbolic links followed: all names of one file lead to the same marks.
struct Location {
  std::string directory;
  std::string name;
  std::string path;

  /// Where the marks are kept.
  std::string fence() const { return path + ".fence"; }
  /// Where new content is prepared.
  std::string temporary(std::uint64_t number) const;
};

/// Touches nothing. not_found: no such directory. invalid_argument: not the path of a regular file,
/// or one that would get in the way of other files' marks.
Result<Location, StoreError> locate(const std::string& path);

}  // namespace holdfast::files
