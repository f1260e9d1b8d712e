#include "tests/transcripts/verbs.h"

#include <algorithm>
#include <sstream>

#include "tests/transcripts/words.h"

namespace holdfast::transcripts {
namespace {

const Verb* find_verb(std::string_view name) {
  for (const auto verbs :
       {fault_verbs(), lock_verbs(), process_verbs(), resource_verbs(), show_verbs()}) {
    const auto found = std::ranges::find(verbs, name, &Verb::name);
    if (found != verbs.end()) return &*found;
  }
  return nullptr;
}

Result<void> check_shape(const Verb& verb, const Command& command) {
  const std::string usage = "; usage: " + std::string{verb.usage};
  const std::size_t words = command.words.size();
  if (words < verb.words_min) return wrong("too few words" + usage);
  if (words > verb.words_max) {
    return wrong("'" + command.words[verb.words_max] + "' is one word too many" + usage);
  }
  for (const auto& [option, value] : command.options) {
    if (std::ranges::find(verb.options, option) == verb.options.end()) {
      return wrong("there is no option '" + option + "='" + usage);
    }
  }
  return {};
}

const Verb kEngine{.name = kEngineVerb,
                   .usage = "engine NAME clients=A,B [nodes=N] [seed=N] [timeout=TIME]",
                   .words_min = 1,
                   .words_max = 1,
                   .options = {"clients", "nodes", "seed", "timeout"}};

Result<std::vector<std::string>> client_names(const Command& command) {
  const auto text = text_option(command, "clients");
  if (!text) return Unexpected{text.error()};
  std::vector<std::string> names;
  std::istringstream in{*text};
  for (std::string name; std::getline(in, name, ',');) names.push_back(name);
  if (names.empty()) return wrong("'clients=' names nobody");
  return names;
}

}  // namespace

Result<std::unique_ptr<Stage>> open_stage(const Command& command) {
  if (const auto shaped = check_shape(kEngine, command); !shaped) {
    return Unexpected{shaped.error()};
  }
  const sim::Protocol* const protocol = sim::find_protocol(command.words[0]);
  if (protocol == nullptr) return wrong("there is no engine '" + command.words[0] + "'");
  if (protocol->servers != sim::ServerKind::redis) {
    return wrong("a witness reads what a Redis runs, and '" + command.words[0] + "' has none");
  }
  const auto clients = client_names(command);
  if (!clients) return Unexpected{clients.error()};
  const auto nodes = number_option(command, "nodes", protocol->nodes);
  if (!nodes) return Unexpected{nodes.error()};
  if (*nodes < 1 || *nodes > 9) return wrong("nodes= is from 1 to 9");
  const auto seed = number_option(command, "seed", 1);
  if (!seed) return Unexpected{seed.error()};
  const auto timeout = time_option(command, "timeout", sim::Pace{}.timeout);
  if (!timeout) return Unexpected{timeout.error()};
  return std::make_unique<Stage>(
      Setup{.protocol = protocol,
            .nodes = *nodes,
            .clients = *clients,
            .seed = *seed,
            .pace = {.timeout = std::chrono::duration_cast<Millis>(*timeout)}});
}

Result<void> run(Stage& stage, const Command& command) {
  const Verb* const verb = find_verb(command.verb);
  if (verb == nullptr) return wrong("there is no command '" + command.verb + "'");
  if (const auto shaped = check_shape(*verb, command); !shaped) return shaped;
  return verb->run(stage, command);
}

}  // namespace holdfast::transcripts
