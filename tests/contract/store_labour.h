// What actors do with a store: count in it, and run things once.

#pragma once

#include "holdfast/client.h"
#include "tests/contract/wire.h"

namespace holdfast::contract {

/// The commands of an actor that use the store. `command` is as received: id, verb, …
///
///   update   KEY ROUNDS                    counts by compare-and-swap
///   fenced   LOCK RESOURCE ROUNDS TTL_MS   counts under a lock: open, read, write, release
///   unfenced LOCK KEY ROUNDS TTL_MS        the same with a plain get and put
///   once     KEY TTL_MS FILE STEP          runs once(); its effect is a line in FILE: key, token,
///                                          pid, time. At STEP of its way the process kills itself
///                                          (-1: never)
///
/// Counting answers "done", how many were done, and how often it was refused or in conflict; once
/// answers "here" or "before" with the result. Anything else is what went wrong.
Fields store_labour(Client& client, const Fields& command);

/// How many steps `once` has at most: before and after each call of the store and of the runner.
inline constexpr int kOnceSteps = 10;

/// The number a counter has come to; 0 when there is none.
std::uint64_t read_counter(Store& store, const std::string& key);

}  // namespace holdfast::contract
