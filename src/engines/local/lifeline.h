// Renewing and ending a lifeline. Both go through one compare-and-swap on its word, so that a
// renewal and an expiry that race cannot both succeed.
//
// Thread safety: any thread of any process.

#pragma once

#include "engines/local/layout.h"
#include "holdfast/clock.h"

namespace holdfast::local {

inline std::int64_t to_ns(TimePoint time) { return time.time_since_epoch().count(); }
inline TimePoint from_ns(std::int64_t ns) { return TimePoint{Duration{ns}}; }

inline bool has_expired(const Lifeline& line) { return (line.word.load() & 1) != 0; }
inline TimePoint deadline_of(const Lifeline& line) { return from_ns(line.deadline_ns.load()); }

/// Begins a new life; nobody else may know of it yet.
inline void begin(Lifeline& line, TimePoint deadline) {
  const std::uint64_t word = line.word.load(std::memory_order_relaxed);
  line.deadline_ns.store(to_ns(deadline), std::memory_order_relaxed);
  line.word.store((word | 1) + 1, std::memory_order_release);
}

enum class Renewal : std::uint8_t { renewed, expired };

/// Moves the deadline, never back. `expired`: somebody ended it first.
inline Renewal renew(Lifeline& line, TimePoint deadline) {
  std::uint64_t word = line.word.load();
  while (true) {
    if ((word & 1) != 0) return Renewal::expired;
    std::int64_t current = line.deadline_ns.load();
    while (current < to_ns(deadline) &&
           !line.deadline_ns.compare_exchange_weak(current, to_ns(deadline))) {
    }
    if (line.word.compare_exchange_weak(word, word + 2)) return Renewal::renewed;
  }
}

/// Whether it has ended; past its deadline it is ended here and now.
inline bool expire_if_due(Lifeline& line, TimePoint now) {
  std::uint64_t word = line.word.load();
  while (true) {
    if ((word & 1) != 0) return true;
    if (now < deadline_of(line)) return false;
    if (line.word.compare_exchange_weak(word, word + 1)) return true;
  }
}

/// Ends it whatever its deadline: its keeper gives it up.
inline void end(Lifeline& line) { line.word.fetch_or(1); }

}  // namespace holdfast::local
