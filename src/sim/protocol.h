// Protocols: what a world can run, each the engine's own class over a Port.

#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "base/env.h"
#include "sim/checkers/all.h"
#include "sim/faults/fault_class.h"
#include "sim/world/sim_client.h"

namespace holdfast::sim {

struct Pace {
  /// How long a request waits for its answer: short against the TTL of the world.
  Millis timeout{200};
  /// How long an operation tries to get one.
  Millis patience{1000};
};

struct Protocol {
  std::string_view name;
  std::string_view summary;
  ServerKind servers;
  std::size_t nodes;
  /// Whether the resource behind its locks is told the tokens, and refuses stale ones.
  Register resource;
  /// The faults under which it keeps its promises.
  FaultSet faults;
  std::shared_ptr<core::LeaseEngine> (*make)(Env& env, Ports ports, const Pace& pace);
  /// What is done to the servers before the world begins. Null: nothing.
  void (*prepare)(Servers& servers){nullptr};
  /// The shortest TTL that its servers grant.
  Millis ttl_min{0};
  /// Of its faults, those under which two may hold a lock, beside those under which no lock can
  /// prevent it.
  FaultSet may_break{};
};

/// All of them. They live for the whole program.
std::span<const Protocol> protocols();

/// Null: there is none of that name.
const Protocol* find_protocol(std::string_view name);

}  // namespace holdfast::sim
