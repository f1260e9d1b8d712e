// Putting a new file in the place of another in one step.

#pragma once

#include <string>
#include <string_view>

#include "holdfast/result.h"

namespace holdfast::observe {

/// Readers see the old content or the new one, never a part. What is new may be lost with the
/// machine's power. io_error, denied, no_space: nothing was changed.
Result<void> replace_file(const std::string& path, std::string_view content);

/// Whether a file could be put there at present. Failures as replace_file().
Result<void> check_replaceable(const std::string& path);

/// The error of a system call that failed on that file, by errno.
Error file_error(const std::string& path, int reason);

}  // namespace holdfast::observe
