// What actors do under a lock, with checks that two of them never do it at once.

#pragma once

#include "holdfast/client.h"
#include "tests/contract/wire.h"

namespace holdfast::contract {

/// The commands of an actor that take a lock many times. `command` is as received: id, verb, …
///
///   count NAME FILE ROUNDS     critical sections one after another, by one thread
///   crowd NAME FILE THREADS    one critical section by each of many threads at once
///   line  NAME FILE REQUESTS   one critical section by each of many requests queued in order
///
/// Answers "done" and how many were done, or what went wrong first.
Fields labour(Client& client, const Fields& command);

/// The number in a file that critical sections count in; 0 when there is none yet.
std::uint64_t read_count(const std::string& file);

}  // namespace holdfast::contract
