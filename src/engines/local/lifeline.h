// Renewing and ending a lifeline. Both swap its one word, so that a renewal and an expiry that race
// cannot both succeed.
//
// Thread safety: any thread of any process.

#pragma once

#include "engines/local/layout.h"
#include "holdfast/clock.h"

namespace holdfast::local {

inline std::int64_t to_ns(TimePoint time) { return time.time_since_epoch().count(); }
inline TimePoint from_ns(std::int64_t ns) { return TimePoint{Duration{ns}}; }

/// The content of a lifeline at one moment.
struct LifelineWord {
  std::uint64_t raw{0};

  static LifelineWord until(TimePoint deadline) {
    return {static_cast<std::uint64_t>(to_ns(deadline)) << 1};
  }
  bool expired() const { return (raw & 1) != 0; }
  TimePoint deadline() const { return from_ns(static_cast<std::int64_t>(raw >> 1)); }
};

inline LifelineWord read(const Lifeline& line) { return {line.word.load()}; }
inline bool has_expired(const Lifeline& line) { return read(line).expired(); }
inline TimePoint deadline_of(const Lifeline& line) { return read(line).deadline(); }

/// Begins a new life; nobody else may know of it yet.
inline void begin(Lifeline& line, TimePoint deadline) {
  line.word.store(LifelineWord::until(deadline).raw, std::memory_order_relaxed);
}

enum class Renewal : std::uint8_t { renewed, expired };

/// Moves the deadline, never back. `expired`: somebody ended it first.
inline Renewal renew(Lifeline& line, TimePoint deadline) {
  LifelineWord word = read(line);
  do {
    if (word.expired()) return Renewal::expired;
    if (word.deadline() >= deadline) return Renewal::renewed;
  } while (!line.word.compare_exchange_weak(word.raw, LifelineWord::until(deadline).raw));
  return Renewal::renewed;
}

/// Whether it has ended; past its deadline it is ended here and now.
inline bool expire_if_due(Lifeline& line, TimePoint now) {
  LifelineWord word = read(line);
  do {
    if (word.expired()) return true;
    if (now < word.deadline()) return false;
  } while (!line.word.compare_exchange_weak(word.raw, word.raw | 1));
  return true;
}

}  // namespace holdfast::local
