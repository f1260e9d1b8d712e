// Mutants of PostgreSQL: mistakes in the functions of its schema, and in what is around its engine.

#pragma once

#include <span>

#include "sim/mutants/mutant.h"

namespace holdfast::sim {

/// They live for the whole program.
std::span<const Mutant> postgres_mutants();

}  // namespace holdfast::sim
