// The completion scripts of completions/, built into the command.

#pragma once

#include <string_view>

namespace holdfast::cli {

extern const std::string_view kBashCompletion;
extern const std::string_view kZshCompletion;

}  // namespace holdfast::cli
