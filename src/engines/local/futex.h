// Futexes on memory shared between processes.
//
// Thread safety: any thread. Waits may return early for no reason; callers look again.

#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "holdfast/clock.h"

namespace holdfast::local {

/// A word and the value it must still have for the caller to sleep.
struct FutexWait {
  const std::atomic<std::uint32_t>* word;
  std::uint32_t expected;
};

inline constexpr std::size_t kFutexWaitsMax = 64;
inline constexpr TimePoint kNever = TimePoint::max();

/// Sleeps until one of the words is woken or changed, or `until` has passed. At most kFutexWaitsMax
/// words. Where the kernel cannot wait on several words, the first is waited on for at most 50 ms.
void futex_wait_any(std::span<const FutexWait> waits, TimePoint until);

void futex_wake(const std::atomic<std::uint32_t>& word, int count);

}  // namespace holdfast::local
