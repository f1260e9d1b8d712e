#include "observe/counts.h"

#include <algorithm>
#include <utility>

namespace holdfast::observe {

void Counts::time(Cell histogram, Duration duration) noexcept {
  const auto* const bound = std::ranges::lower_bound(kBounds, duration);
  add(histogram + static_cast<std::size_t>(bound - kBounds.begin()));
  add(histogram + kBuckets, static_cast<std::uint64_t>(std::max(duration, Duration{0}).count()));
}

void Counts::count(const Event& event) noexcept {
  const auto error = static_cast<std::size_t>(event.error == nullptr ? Errc{} : event.error->code);
  switch (event.kind) {
    case EventKind::acquired:
      add(kAcquired + (event.contended ? 1 : 0));
      // One that did not have to wait is in the first bucket of them all.
      if (event.waited == Duration{0}) return add(kWait);
      time(kWait, event.waited);
      if (event.hand_over) time(kHandOver, *event.hand_over);
      return;
    case EventKind::refused:
      return add(kRefused + error);
    case EventKind::renewed:
      return add(event.error == nullptr ? kRenewed : kRenewalFailed + error);
    case EventKind::jeopardy:
      return add(kJeopardy);
    case EventKind::lost:
      return add(kLost + static_cast<std::size_t>(event.reason));
    case EventKind::released:
      add(kReleased + static_cast<std::size_t>(event.outcome));
      [[fallthrough]];
    case EventKind::detached:
      // Without a token it was released by its owner's name alone, and had no lease here.
      if (event.token != Token{0}) add(kClosed);
      if (event.held) time(kHold, *event.held);
      return;
    case EventKind::broken:
      return add(kBroken);
    case EventKind::stale:
      return add(kStale);
    case EventKind::conflict:
      return add(kConflicts);
  }
}

void Counts::add_to(Totals& totals) const noexcept {
  for (std::size_t cell = 0; cell < kCells; ++cell) {
    totals[cell] += cells_[cell].load(std::memory_order_relaxed);
  }
  const std::uint64_t grants = std::exchange(totals[kQuickGrants], 0);
  totals[kAcquired] += grants;
  totals[kWait] += grants;
  const std::uint64_t releases = std::exchange(totals[kQuickReleases], 0);
  totals[kReleased] += releases;
  totals[kClosed] += releases;
}

}  // namespace holdfast::observe
