// One command of a transcript: a verb, words and options, such as
//
//     acquire alice ledger ttl=10s

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/clock.h"
#include "holdfast/result.h"

namespace holdfast::transcripts {

struct Command {
  /// Of the file, from 1.
  std::size_t line{0};
  std::string verb;
  std::vector<std::string> words;
  std::map<std::string, std::string, std::less<>> options;

  bool has(std::string_view option) const { return options.contains(option); }
};

/// invalid_argument: an option is given twice.
Result<Command> parse_command(std::size_t line, std::string_view text);

// The value of an option. invalid_argument: it is missing or makes no sense.
Result<std::string> text_option(const Command& command, std::string_view option);
Result<Duration> time_option(const Command& command, std::string_view option);
Result<std::uint64_t> number_option(const Command& command, std::string_view option);

// The same for options that may be left out.
Result<Duration> time_option(const Command& command, std::string_view option, Duration otherwise);
Result<std::uint64_t> number_option(const Command& command,
                                    std::string_view option,
                                    std::uint64_t otherwise);

}  // namespace holdfast::transcripts
