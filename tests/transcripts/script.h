// A transcript as it stands in its file: prose, commands, a line `----`, and what came of them up
// to the next blank line.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/transcripts/command.h"

namespace holdfast::transcripts {

/// Commands that happen at the same moment, and their outcome.
struct Block {
  /// All lines before `----`, as they stand: blank lines and prose too.
  std::string head;
  std::vector<Command> commands;
  /// Whole lines.
  std::string outcome;
};

struct Script {
  std::vector<Block> blocks;
  /// What follows the last outcome.
  std::string tail;
};

/// invalid_argument: commands without `----`, `----` without commands; the message begins with the
/// line.
Result<Script> parse_script(std::string_view text);

std::string to_text(const Script& script);

}  // namespace holdfast::transcripts
