#include "tests/transcripts/performance.h"

#include <memory>
#include <utility>

#include "tests/transcripts/script.h"
#include "tests/transcripts/verbs.h"
#include "tests/transcripts/words.h"

namespace holdfast::transcripts {
namespace {

Result<void> run_command(std::unique_ptr<Stage>& stage, const Command& command) {
  if (command.verb == kEngineVerb) {
    auto opened = open_stage(command);
    if (!opened) return Unexpected{opened.error()};
    stage = *std::move(opened);
    return {};
  }
  if (!stage) return wrong("the first command is 'engine'");
  return run(*stage, command);
}

Result<void> run_block(std::unique_ptr<Stage>& stage, Block& block) {
  for (const Command& command : block.commands) {
    auto done = run_command(stage, command);
    const bool is_last = &command == &block.commands.back();
    if (done && is_last) done = stage->settle();
    if (!done) return wrong(std::to_string(command.line) + ": " + done.error().message);
  }
  block.outcome = stage->take_outcome();
  return {};
}

}  // namespace

Result<std::string> play(std::string_view text) {
  auto script = parse_script(text);
  if (!script) return Unexpected{script.error()};
  std::unique_ptr<Stage> stage;
  for (Block& block : script->blocks) {
    if (const auto done = run_block(stage, block); !done) return Unexpected{done.error()};
  }
  return to_text(*script);
}

}  // namespace holdfast::transcripts
