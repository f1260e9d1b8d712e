#include "tests/transcripts/command.h"

#include <sstream>

#include "base/decimal.h"
#include "tests/transcripts/words.h"

namespace holdfast::transcripts {

Result<Command> parse_command(std::size_t line, std::string_view text) {
  Command command{.line = line, .verb = {}, .words = {}, .options = {}};
  std::istringstream in{std::string{text}};
  in >> command.verb;
  for (std::string word; in >> word;) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) {
      command.words.push_back(word);
      continue;
    }
    const std::string name = word.substr(0, equals);
    const bool is_new = command.options.emplace(name, word.substr(equals + 1)).second;
    if (!is_new) return wrong("'" + name + "' is given twice");
  }
  return command;
}

Result<std::string> text_option(const Command& command, std::string_view option) {
  const auto found = command.options.find(option);
  if (found == command.options.end()) return wrong("'" + std::string{option} + "=' is missing");
  return found->second;
}

Result<Duration> time_option(const Command& command, std::string_view option) {
  const auto text = text_option(command, option);
  if (!text) return Unexpected{text.error()};
  return parse_time(*text);
}

Result<std::uint64_t> number_option(const Command& command, std::string_view option) {
  const auto text = text_option(command, option);
  if (!text) return Unexpected{text.error()};
  if (const auto number = parse_decimal<std::uint64_t>(*text)) return *number;
  return wrong("'" + *text + "' is no number");
}

Result<Duration> time_option(const Command& command, std::string_view option, Duration otherwise) {
  if (!command.has(option)) return otherwise;
  return time_option(command, option);
}

Result<std::uint64_t> number_option(const Command& command,
                                    std::string_view option,
                                    std::uint64_t otherwise) {
  if (!command.has(option)) return otherwise;
  return number_option(command, option);
}

}  // namespace holdfast::transcripts
