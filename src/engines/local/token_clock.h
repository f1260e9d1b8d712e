// Tokens count like a clock: ticks of 100 ns since 2026
// (docs/adr/0002-tokens-count-like-a-clock.md).
//
// A directory that was deleted is begun anew at the clock, so the counter must never run ahead of
// it. Blocks of tokens are reserved on the disk before they are given out, no faster than the clock
// ticks.

#pragma once

#include <cstdint>

#include "holdfast/clock.h"

namespace holdfast::local {

inline constexpr std::uint64_t kTicksPerMicrosecond = 10;
inline constexpr std::uint64_t kTokenBlockMin = 4096;
inline constexpr std::uint64_t kTokenBlockMax = std::uint64_t{1} << 20;

/// The wall clock in ticks since 2026-01-01 UTC; 0 if it shows an earlier time.
std::uint64_t wall_ticks();

/// How many tokens to reserve on top of `limit`, and how long to wait before that, when counting
/// began at `pace_token` this long ago.
struct Reservation {
  std::uint64_t tokens{0};
  Duration wait{0};
};
Reservation plan_reservation(std::uint64_t pace_token, Duration since_pace, std::uint64_t limit);

}  // namespace holdfast::local
