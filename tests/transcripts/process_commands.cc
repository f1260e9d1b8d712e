// Time, and what befalls clients.

#include <array>

#include "tests/transcripts/verbs.h"
#include "tests/transcripts/words.h"

namespace holdfast::transcripts {
namespace {

Result<void> advance(Stage& stage, const Command& command) {
  const auto time = parse_time(command.words[0]);
  if (!time) return Unexpected{time.error()};
  if (*time <= Duration{0}) return wrong("time goes forward");
  stage.world().advance(*time);
  return {};
}

Result<void> pause(Stage& stage, const Command& command) {
  const auto client = stage.client(command.words[0]);
  if (!client) return Unexpected{client.error()};
  stage.world().pause(*client);
  return {};
}

Result<void> resume(Stage& stage, const Command& command) {
  const auto client = stage.client(command.words[0]);
  if (!client) return Unexpected{client.error()};
  stage.world().resume(*client);
  stage.stir();
  return {};
}

Result<void> crash(Stage& stage, const Command& command) {
  const auto client = stage.client(command.words[0]);
  if (!client) return Unexpected{client.error()};
  stage.crash(*client);
  return {};
}

Result<void> restart(Stage& stage, const Command& command) {
  const auto client = stage.client(command.words[0]);
  if (!client) return Unexpected{client.error()};
  if (!stage.world().client(*client).env().killed()) {
    return wrong(command.words[0] + " has not crashed");
  }
  stage.world().restart(*client);
  return {};
}

}  // namespace

std::span<const Verb> process_verbs() {
  static const std::array kVerbs{
      Verb{"advance", "advance TIME", 1, 1, {}, &advance},
      Verb{"pause", "pause CLIENT", 1, 1, {}, &pause},
      Verb{"resume", "resume CLIENT", 1, 1, {}, &resume},
      Verb{"crash", "crash CLIENT", 1, 1, {}, &crash},
      Verb{"restart", "restart CLIENT", 1, 1, {}, &restart},
  };
  return kVerbs;
}

}  // namespace holdfast::transcripts
