// Plays a transcript.

#pragma once

#include <string>
#include <string_view>

#include "holdfast/result.h"

namespace holdfast::transcripts {

/// The text with the outcomes that its commands have now. Fails with the line and what is wrong
/// there, such as "12: there is no command 'aquire'".
Result<std::string> play(std::string_view text);

}  // namespace holdfast::transcripts
