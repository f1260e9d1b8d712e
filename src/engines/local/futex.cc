#include "engines/local/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>

#include "base/assert.h"

namespace holdfast::local {
namespace {

std::atomic<bool> wait_any_missing{false};

// futex_waitv and FUTEX_WAIT_BITSET count in CLOCK_MONOTONIC, which stands still while the machine
// sleeps; a sleeper that wakes late looks at the boot clock again.
timespec monotonic_at(TimePoint until) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const auto left = std::max(until - BootClock::now(), Duration::zero());
  const auto at = std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec} + left;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(at);
  return {.tv_sec = seconds.count(), .tv_nsec = (at - seconds).count()};
}

void wait_one(const FutexWait& wait, TimePoint until) {
  timespec at{};
  if (until != kNever) at = monotonic_at(until);
  syscall(SYS_futex,
          wait.word,
          FUTEX_WAIT_BITSET,
          wait.expected,
          until == kNever ? nullptr : &at,
          nullptr,
          FUTEX_BITSET_MATCH_ANY);
}

bool wait_several(std::span<const FutexWait> waits, TimePoint until) {
  std::array<futex_waitv, kFutexWaitsMax> vector{};
  for (std::size_t i = 0; i < waits.size(); ++i) {
    vector[i].uaddr = reinterpret_cast<std::uintptr_t>(waits[i].word);
    vector[i].val = waits[i].expected;
    vector[i].flags = FUTEX_32;
  }
  timespec at{};
  if (until != kNever) at = monotonic_at(until);
  const long result = syscall(SYS_futex_waitv,
                              vector.data(),
                              waits.size(),
                              0,
                              until == kNever ? nullptr : &at,
                              CLOCK_MONOTONIC);
  return result >= 0 || (errno != ENOSYS && errno != EPERM);
}

}  // namespace

void futex_wait_any(std::span<const FutexWait> waits, TimePoint until) {
  HOLDFAST_ASSERT(!waits.empty());
  HOLDFAST_ASSERT(waits.size() <= kFutexWaitsMax);
  if (waits.size() == 1) return wait_one(waits.front(), until);
  if (!wait_any_missing.load(std::memory_order_relaxed)) {
    if (wait_several(waits, until)) return;
    wait_any_missing.store(true, std::memory_order_relaxed);
  }
  constexpr auto kRecheck = std::chrono::milliseconds{50};
  wait_one(waits.front(), std::min(until, BootClock::now() + kRecheck));
}

void futex_wake(const std::atomic<std::uint32_t>& word, int count) {
  syscall(SYS_futex, &word, FUTEX_WAKE, count, nullptr, nullptr, 0);
}

}  // namespace holdfast::local
