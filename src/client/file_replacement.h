// Replacing a file in one step, such that whoever comes after a crash can tell whether it was done.
//
// In this order, each on the disk before the next: the record says what is about to be there; a
// temporary file has the new content; the rename; the directory; the record says that it is done.

#pragma once

#include <optional>
#include <string_view>

#include "client/fence_mark.h"

namespace holdfast::files {

/// The marks of the file, locked, and whatever a killed process left settled: the record has
/// nothing pending, and no temporary file is left. unavailable: locked by somebody for too long.
Result<FenceMark, StoreError> lock_settled(const Location& where);

/// The open file, or none when there is no such file.
Result<Fd, StoreError> open_content(const Location& where);

/// Makes the bytes the content of the file (none: removes it) and `after` what is remembered.
/// unknown_outcome: it may or may not have been done, and the next lock_settled() finds out. After
/// any other error nothing was changed.
Status replace(FenceMark& mark,
               const Location& where,
               const Standing& after,
               std::optional<std::string_view> bytes);

}  // namespace holdfast::files
