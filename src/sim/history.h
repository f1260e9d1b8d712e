// What the clients of a world experienced, for checkers to judge. All times are true time.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "holdfast/clock.h"
#include "holdfast/lease.h"
#include "holdfast/token.h"

namespace holdfast::sim {

/// A stretch of time: from `begin` up to, not including, `end`.
struct Span {
  TimePoint begin;
  TimePoint end;

  bool contains(TimePoint time) const { return begin <= time && time < end; }
  bool overlaps(const Span& other) const { return begin < other.end && other.begin < end; }
};

/// One grant in the life of a client.
struct GrantRecord {
  std::size_t client{0};
  std::string lock;
  Token token{0};
  Owner owner{Owner::Bytes{}};
  /// When the client decided to ask.
  TimePoint asked_at;
  /// From when the client knew of the grant until it gave up the lock or its deadline passed.
  Span held;
  /// When the client heard of its loss, and why. LossReason::none: it was not lost.
  TimePoint loss_heard_at;
  LossReason loss{LossReason::none};
};

struct History {
  std::vector<GrantRecord> grants;
  /// For each client, when it did not run.
  std::vector<std::vector<Span>> pauses;
};

/// A broken promise.
struct Violation {
  std::string checker;
  std::string what;
};

using Violations = std::vector<Violation>;

}  // namespace holdfast::sim
