// What Metrics counts: one array of cells, so that many of them can be added up.

#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "holdfast/observer.h"

namespace holdfast::observe {

/// Upper bounds of the buckets of every histogram; the last bucket has none.
inline constexpr std::array kBounds{std::chrono::nanoseconds{1'000},
                                    std::chrono::nanoseconds{10'000},
                                    std::chrono::nanoseconds{100'000},
                                    std::chrono::nanoseconds{1'000'000},
                                    std::chrono::nanoseconds{5'000'000},
                                    std::chrono::nanoseconds{10'000'000},
                                    std::chrono::nanoseconds{50'000'000},
                                    std::chrono::nanoseconds{100'000'000},
                                    std::chrono::nanoseconds{500'000'000},
                                    std::chrono::nanoseconds{1'000'000'000},
                                    std::chrono::nanoseconds{5'000'000'000},
                                    std::chrono::nanoseconds{10'000'000'000},
                                    std::chrono::nanoseconds{60'000'000'000},
                                    std::chrono::nanoseconds{300'000'000'000},
                                    std::chrono::nanoseconds{1'800'000'000'000}};

inline constexpr std::size_t kBuckets = kBounds.size() + 1;
inline constexpr std::size_t kErrcs = static_cast<std::size_t>(Errc::internal) + 1;
inline constexpr std::size_t kReasons = static_cast<std::size_t>(LossReason::rolled_back) + 1;

/// Where each kind of cell begins. A histogram is its buckets and the sum in nanoseconds.
enum Cell : std::size_t {
  kQuickGrants = 0,
  kQuickReleases = kQuickGrants + 1,
  kAcquired = kQuickReleases + 1,  // at once, after a wait
  kRefused = kAcquired + 2,
  kRenewed = kRefused + kErrcs,
  kRenewalFailed = kRenewed + 1,
  kJeopardy = kRenewalFailed + kErrcs,
  kLost = kJeopardy + 1,
  kReleased = kLost + kReasons,  // released, already_lost, unknown
  kClosed = kReleased + 3,
  kBroken = kClosed + 1,
  kStale = kBroken + 1,
  kConflicts = kStale + 1,
  kWait = kConflicts + 1,
  kHold = kWait + kBuckets + 1,
  kHandOver = kHold + kBuckets + 1,
  kCells = kHandOver + kBuckets + 1,
};

/// The quick ones are among the others here.
using Totals = std::array<std::uint64_t, kCells>;

/// Thread safety: one thread counts, any adds up.
class Counts {
 public:
  void count(const Event& event) noexcept;
  void add_quick_grant() noexcept { add(kQuickGrants); }
  void add_quick_release() noexcept { add(kQuickReleases); }
  void add_to(Totals& totals) const noexcept;

 private:
  void add(std::size_t cell, std::uint64_t amount = 1) noexcept {
    // With one writer, this is all that an increment takes.
    cells_[cell].store(cells_[cell].load(std::memory_order_relaxed) + amount,
                       std::memory_order_relaxed);
  }
  void time(Cell histogram, Duration duration) noexcept;

  alignas(64) std::array<std::atomic<std::uint64_t>, kCells> cells_{};
};

}  // namespace holdfast::observe
