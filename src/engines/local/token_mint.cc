#include "engines/local/token_mint.h"

#include <algorithm>
#include <ctime>

#include "engines/local/token_clock.h"
#include "holdfast/token.h"

namespace holdfast::local {
namespace {

void raise(std::atomic<std::uint64_t>& value, std::uint64_t to) {
  std::uint64_t current = value.load();
  while (current < to && !value.compare_exchange_weak(current, to)) {
  }
}

void pause_for(Duration wait) {
  if (wait <= Duration::zero()) return;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(wait);
  const timespec time{.tv_sec = seconds.count(), .tv_nsec = (wait - seconds).count()};
  nanosleep(&time, nullptr);
}

}  // namespace

Result<std::uint64_t> TokenMint::mint() {
  const std::uint64_t token = header_.next_token.fetch_add(1);
  if (token > Token::kMax) {
    return Unexpected{Error{Errc::internal, "tokens have reached 2^53"}};
  }
  if (token < header_.token_limit.load()) {
    if (!asked_.exchange(true)) ask_for_more_();
    return token;
  }
  if (auto raised = raise_limit(token); !raised) return Unexpected{raised.error()};
  return token;
}

Result<void> TokenMint::reserve_if_asked() {
  if (!asked_.exchange(false)) return {};
  const std::uint64_t next = header_.next_token.load();
  return raise_limit(next + header_.token_block.load() / 2);
}

Result<void> TokenMint::raise_limit(std::uint64_t above) {
  while (header_.token_limit.load() <= above) {
    const std::uint64_t limit = header_.token_limit.load();
    const auto since = BootClock::now() - TimePoint{Duration{header_.pace_ns.load()}};
    const Reservation plan = plan_reservation(header_.pace_token.load(), since, limit);
    pause_for(plan.wait);
    const std::uint64_t target = limit + plan.tokens;
    raise(header_.token_limit_written, target);
    // Written by whoever comes first; usable by all only after it has reached the disk.
    if (auto synced = file_.sync_header(); !synced) return synced;
    header_.token_block.store(plan.tokens);
    raise(header_.token_limit, target);
  }
  return {};
}

}  // namespace holdfast::local
