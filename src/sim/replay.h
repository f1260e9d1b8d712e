// The command line that runs one seed again.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/seed_run.h"

namespace holdfast::sim {

/// The words after the program's name: lab sim --engine … --seed …. What is as usual is left out.
std::vector<std::string> replay_words(std::uint64_t seed, const SeedOptions& options);

/// The same as one line for a shell, with the program in front. No word needs quotes.
std::string replay_command(std::uint64_t seed, const SeedOptions& options);

}  // namespace holdfast::sim
