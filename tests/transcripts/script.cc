#include "tests/transcripts/script.h"

#include <utility>

#include "tests/transcripts/words.h"

namespace holdfast::transcripts {
namespace {

constexpr std::string_view kRule = "----";

Unexpected<Error> wrong_at(std::size_t line, const std::string& message) {
  return wrong(std::to_string(line) + ": " + message);
}

/// Takes a file line by line.
class Reader {
 public:
  Result<void> take(std::size_t number, std::string_view line) {
    if (in_outcome_ && !line.empty()) {
      script_.blocks.back().outcome.append(line).append("\n");
      return {};
    }
    in_outcome_ = false;
    if (line == kRule) return end_block(number);
    block_.head.append(line).append("\n");
    if (line.starts_with('#')) return {};
    if (!line.empty()) return take_command(number, line);
    return end(number);
  }

  /// The file ends, or a blank line does what its end does.
  Result<void> end(std::size_t number) const {
    if (block_.commands.empty()) return {};
    return wrong_at(number, "these commands have no outcome: end them with a line ----");
  }

  Script finish() && {
    script_.tail = std::move(block_.head);
    return std::move(script_);
  }

 private:
  Result<void> end_block(std::size_t number) {
    if (block_.commands.empty()) return wrong_at(number, "there is no command before this line");
    script_.blocks.push_back(std::exchange(block_, {}));
    in_outcome_ = true;
    return {};
  }

  Result<void> take_command(std::size_t number, std::string_view line) {
    auto command = parse_command(number, line);
    if (!command) return wrong_at(number, command.error().message);
    block_.commands.push_back(*std::move(command));
    return {};
  }

  Script script_;
  Block block_;
  bool in_outcome_{false};
};

}  // namespace

Result<Script> parse_script(std::string_view text) {
  Reader reader;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (const auto taken = reader.take(++number, text.substr(0, end)); !taken) {
      return Unexpected{taken.error()};
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  if (const auto ended = reader.end(number); !ended) return Unexpected{ended.error()};
  return std::move(reader).finish();
}

std::string to_text(const Script& script) {
  std::string text;
  for (const Block& block : script.blocks) {
    text.append(block.head).append(kRule).append("\n").append(block.outcome);
  }
  return text + script.tail;
}

}  // namespace holdfast::transcripts
