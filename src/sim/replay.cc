#include "sim/replay.h"

#include <string_view>

#include "base/assert.h"
#include "sim/faults/fault_list.h"

namespace holdfast::sim {
namespace {

void add_number(std::vector<std::string>& words,
                std::string_view option,
                std::uint64_t number,
                std::uint64_t usual) {
  if (number == usual) return;
  words.emplace_back(option);
  words.push_back(std::to_string(number));
}

}  // namespace

std::vector<std::string> replay_words(std::uint64_t seed, const SeedOptions& options) {
  HOLDFAST_ASSERT(options.protocol != nullptr);
  const SeedOptions usual;
  std::vector<std::string> words{"lab", "sim", "--engine", std::string{options.protocol->name}};
  if (options.mutant != nullptr) {
    words.emplace_back("--mutant");
    words.emplace_back(options.mutant->name);
  }
  words.emplace_back("--seed");
  words.push_back(std::to_string(seed));
  if (options.faults != usual.faults) {
    words.emplace_back("--faults");
    words.push_back(to_list(options.faults));
  }
  add_number(words, "--nodes", options.nodes, usual.nodes);
  add_number(words, "--clients", options.clients, usual.clients);
  add_number(words, "--events", options.events, usual.events);
  add_number(words, "--stop-after", options.stop_after, usual.stop_after);
  return words;
}

std::string replay_command(std::uint64_t seed, const SeedOptions& options) {
  std::string line = "./holdfast";
  for (const std::string& word : replay_words(seed, options)) line += " " + word;
  return line;
}

}  // namespace holdfast::sim
