#include "cli/command_line.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace holdfast::cli {
namespace {

std::string_view command_word(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--engine") {
      ++i;
    } else if (!arguments[i].starts_with('-')) {
      return arguments[i];
    }
  }
  return {};
}

bool is_negative_number(std::string_view text) {
  if (text.size() < 2 || text[0] != '-') return false;
  return text[1] == '.' || std::isdigit(static_cast<unsigned char>(text[1])) != 0;
}

bool takes_next(std::string_view option) {
  constexpr std::array<std::string_view, 7> kFlags{
      "--json", "--measure", "--once", "--shared", "--strict", "--unfenced", "--watch"};
  if (std::ranges::find(kFlags, option) != kFlags.end()) return false;
  return option.starts_with("--") && option.size() > 2 && option.find('=') == option.npos;
}

std::vector<std::string> tie_negative_values(std::vector<std::string> arguments) {
  std::vector<std::string> tied;
  for (std::string& argument : arguments) {
    if (is_negative_number(argument) && !tied.empty() && takes_next(tied.back())) {
      tied.back() += '=' + argument;
    } else {
      tied.push_back(std::move(argument));
    }
  }
  return tied;
}

}  // namespace

CommandLine split_command_line(std::vector<std::string> arguments) {
  CommandLine line;
  if (runs_a_program(command_word(arguments))) {
    const auto dashes = std::ranges::find(arguments, "--");
    if (dashes != arguments.end()) {
      line.program.assign(dashes + 1, arguments.end());
      arguments.erase(dashes, arguments.end());
    }
  }
  line.arguments = tie_negative_values(std::move(arguments));
  return line;
}

bool runs_a_program(std::string_view command) {
  constexpr std::array<std::string_view, 6> kRunning{
      "run", "elect", "update", "once", "once-runner", "limit"};
  return std::ranges::find(kRunning, command) != kRunning.end();
}

bool asks_for_json(const std::vector<std::string>& arguments) {
  const auto end = std::ranges::find(arguments, "--");
  return std::find(arguments.begin(), end, "--json") != end;
}

}  // namespace holdfast::cli
