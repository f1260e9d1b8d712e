// Engines around an engine, with a defect each.

#pragma once

#include <memory>
#include <string_view>

#include "base/env.h"
#include "core/lease_engine.h"
#include "sim/protocol.h"

namespace holdfast::sim {

using Engine = std::shared_ptr<core::LeaseEngine>;

/// Counts the lease from when the grant arrived, not from when it was asked for.
Engine counting_from_reply(Env& env, Engine engine);

/// Counts a lease from the last request that was answered, whatever the engine says, and does not
/// hear that it has lost it.
Engine counting_from_last(Env& env, Engine engine);

/// Forgets that clocks disagree.
Engine without_drift_allowance(Env& env, Engine engine);

/// Takes a renewal that nobody answered for done.
Engine believing_in_renewal(Env& env, Engine engine);

/// Releases, and does not return before two TTLs have passed.
Engine lingering_in_release(Env& env, Engine engine);

/// Hands out the number of the etcd lease that was last put into a key as the token.
Engine with_leases_as_tokens(Env& env, Engine engine, std::shared_ptr<std::int64_t> last);

/// The engine of a protocol, without a defect.
Engine plain_engine(std::string_view protocol, Env& env, Ports ports, const Pace& pace);

/// The same over an Env that forgets one wake-up in sixteen.
Engine forgetting_wakeups(std::string_view protocol, Env& env, Ports ports, const Pace& pace);

}  // namespace holdfast::sim
