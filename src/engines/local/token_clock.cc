#include "engines/local/token_clock.h"

#include <algorithm>
#include <ctime>

namespace holdfast::local {

std::uint64_t wall_ticks() {
  constexpr std::int64_t kSeconds2026 = 1'767'225'600;
  constexpr std::int64_t kTicksPerSecond = kTicksPerMicrosecond * 1'000'000;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (now.tv_sec < kSeconds2026) return 0;
  return static_cast<std::uint64_t>((now.tv_sec - kSeconds2026) * kTicksPerSecond +
                                    now.tv_nsec / 100);
}

Reservation plan_reservation(std::uint64_t pace_token, Duration since_pace, std::uint64_t limit) {
  constexpr std::int64_t kNanosPerTick = 1000 / kTicksPerMicrosecond;
  const auto allowed =
      pace_token +
      static_cast<std::uint64_t>(std::max<std::int64_t>(since_pace.count(), 0)) / kNanosPerTick;
  if (allowed >= limit + kTokenBlockMin) {
    return {.tokens = std::min(allowed - limit, kTokenBlockMax)};
  }
  // The smallest block may run a little ahead of the clock; more than one must wait for it.
  const std::uint64_t ahead = limit + kTokenBlockMin - allowed;
  if (ahead <= 2 * kTokenBlockMin) return {.tokens = kTokenBlockMin};
  const auto behind = static_cast<std::int64_t>(ahead - 2 * kTokenBlockMin);
  return {.tokens = kTokenBlockMin, .wait = Duration{behind * kNanosPerTick}};
}

}  // namespace holdfast::local
