// G4: no acknowledged update is lost.
//
// Every write names the value its caller had read. From the final value of a register these names
// lead back, write by write, to the first value. Acknowledged writes are all on that way; writes
// the resource never accepted are not; others may be.

#pragma once

#include <cstddef>

#include "sim/world/history.h"

namespace holdfast::sim {

Violations check_lost_updates(const History& history);

/// How many acknowledged writes are not on the way: for a register without a fence, which promises
/// nothing.
std::size_t count_lost_updates(const History& history);

}  // namespace holdfast::sim
