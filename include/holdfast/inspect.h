// What can be learnt about a lock from outside: who holds it, who waits, what changed.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/clock.h"
#include "holdfast/token.h"

namespace holdfast {

/// One contender for a lock: a holder or a waiter, as others may see it.
struct Contender {
  std::string owner_fp;
  Mode mode{Mode::exclusive};
  Token token{0};
  std::string host;
  std::int64_t pid{0};
  std::string label;
  std::string trace_id;
  /// Wall clock, milliseconds since 1970: when it began to hold (holders) or to wait (waiters).
  std::int64_t since_ms{0};
  /// What is left of its lease.
  Millis ttl{0};
  /// Taken by another program in the engine's own format, not by Holdfast.
  bool foreign{false};
};

/// One lock as it was at some moment. A lock nobody holds or waits for has no contenders.
struct LockInfo {
  std::string name;
  Mode mode{Mode::exclusive};
  /// Mode::permit: how many may hold at once.
  std::uint32_t permits{0};
  std::vector<Contender> holders;
  /// First come first.
  std::vector<Contender> waiters;
  /// Not granted to anybody before this much time has passed: a holder vanished with a lock-delay.
  Millis delay{0};
};

enum class LockChange : std::uint8_t { granted, released, waiting };

/// The name of a change: "granted", "released" or "waiting".
std::string_view to_string(LockChange change) noexcept;

struct LockEvent {
  LockChange change{LockChange::granted};
  std::string name;
  Contender contender;
};

/// What an engine can and cannot do. Asking for what it cannot is Errc::unsupported.
struct Capabilities {
  bool shared{false};
  bool permits{false};
  bool fifo{false};
  bool detached{false};
  bool lock_delay{false};
  bool watch{false};
  bool store{false};
};

}  // namespace holdfast
