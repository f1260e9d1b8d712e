// What commands there are. A verb is a name, the shape of its words, and what it does on the stage.

#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "tests/transcripts/command.h"
#include "tests/transcripts/stage.h"

namespace holdfast::transcripts {

struct Verb {
  std::string_view name;
  /// Its words and options, for whoever got them wrong.
  std::string_view usage;
  std::size_t words_min{0};
  std::size_t words_max{0};
  std::vector<std::string_view> options;
  Result<void> (*run)(Stage& stage, const Command& command){nullptr};
};

/// More words than anybody writes.
inline constexpr std::size_t kAnyNumber = 100;

// Each group in a file of its own. They live for the whole program.
std::span<const Verb> fault_verbs();
std::span<const Verb> lock_verbs();
std::span<const Verb> process_verbs();
std::span<const Verb> resource_verbs();
std::span<const Verb> show_verbs();

/// Opens a stage: `engine NAME clients=A,B [nodes=N] [seed=N] [timeout=TIME]`.
inline constexpr std::string_view kEngineVerb = "engine";
Result<std::unique_ptr<Stage>> open_stage(const Command& command);

/// invalid_argument: no such verb, or words and options that it does not have.
Result<void> run(Stage& stage, const Command& command);

}  // namespace holdfast::transcripts
