// The value of a put: a word of the command line, or what comes on stdin.

#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "holdfast/result.h"

namespace holdfast::cli {

/// Whether stdin brings something by itself: a pipe, a file or a socket; not a terminal, which
/// would have to be asked, and not /dev/null, which a script did not mean.
bool stdin_brings_a_value();

/// Everything on stdin. invalid_argument: more than `limit` bytes; no more than that is kept.
Result<std::string> read_stdin(std::size_t limit);

}  // namespace holdfast::cli
