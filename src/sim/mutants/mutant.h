// Mutants: named ways to break a protocol. Each must be found out; a simulator that lets one live
// proves nothing.
//
// A mutant changes what stands around the engine's classes: the scripts its port runs, the
// functions of its server, the answers it gets, the Env it wakes tasks with, the grants it hands
// out, the habits of its user.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "sim/protocol.h"

namespace holdfast::sim {

/// How the user of a lease works.
enum class Habits : std::uint8_t {
  /// Opens the resource before reading, looks at the lease before every operation.
  careful,
  /// Never looks at the lease.
  trusting,
  /// Reads without a token.
  reads_unguarded,
};

struct Mutant {
  std::string_view name;
  std::string_view summary;
  /// What it is a broken form of.
  std::string_view protocol;
  /// The checker that finds it out, within so many seeds. 0 seeds: too rare for them, and a model
  /// finds it; then this is the model's word for the defect.
  std::string_view checker;
  std::uint64_t seeds;
  std::shared_ptr<core::LeaseEngine> (*make)(Env& env, Ports ports, const Pace& pace);
  Habits habits{Habits::careful};
  Register resource{Register::fenced};
  /// As Protocol has it, in its place.
  void (*prepare)(Servers& servers){nullptr};
};

std::span<const Mutant> mutants();

/// Null: there is none of that name.
const Mutant* find_mutant(std::string_view name);

}  // namespace holdfast::sim
