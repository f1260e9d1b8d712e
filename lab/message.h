// What the director of a demonstration and its processes tell each other. Both are one program, so
// a message is its bytes.

#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "holdfast/error.h"

namespace holdfast::lab {

/// How a process protects what it reads and writes.
enum class Access : std::uint8_t {
  /// Not at all: get and put.
  plain,
  /// Writes carry the token; reads are plain, and nothing is opened before.
  fenced_writes,
  /// open, then read and write with the token.
  open_first,
  /// get, and put with the version that was read.
  compare_and_swap,
};

/// How a process keeps others out in a race.
enum class Guard : std::uint8_t {
  /// Look whether the lock is there; if not, put it there. Two steps.
  check_then_set,
  holdfast,
};

enum class Verb : std::uint8_t {
  /// Stores `number`, without a token.
  put,
  /// Waits for the lock; `number` is the TTL in milliseconds.
  acquire,
  open,
  read,
  /// Checks the lease and works out what to write: what was read plus `number`. Declines below 0.
  decide,
  /// Writes what was decided.
  write,
  release,
  /// Reads without opening, for the record.
  look,
  /// Increments `number` times, each under `guard`.
  race,
};

struct Command {
  Verb verb{Verb::look};
  Access access{Access::plain};
  Guard guard{Guard::holdfast};
  std::int64_t number{0};
};

enum class Answer : std::uint8_t {
  done,
  /// The store refused it: code, and for a stale token both tokens.
  refused,
  /// decide: the result would be negative. release: the lease had been lost before.
  declined,
  /// Nothing a demonstration is about: code and message say what.
  failed,
};

struct Report {
  Answer answer{Answer::done};
  Errc code{Errc::internal};
  /// On BootClock, which is the same in every process.
  std::int64_t began_ns{0};
  std::int64_t ended_ns{0};
  /// What was read, decided or written; race: how many increments were accepted.
  std::int64_t value{0};
  /// Of the process's lease; 0: it has none.
  std::uint64_t token{0};
  /// refused: the token in its way; 0: it was not about tokens.
  std::uint64_t highest{0};
  /// Ends with a 0.
  std::array<char, 240> message{};
};

static_assert(std::is_trivially_copyable_v<Command>);
static_assert(std::is_trivially_copyable_v<Report>);

}  // namespace holdfast::lab
