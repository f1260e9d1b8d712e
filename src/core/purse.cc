#include "core/purse.h"

#include <algorithm>

namespace holdfast::core {

void Purse::drop_lapsed(TimePoint by) {
  while (!allowances_.empty() && allowances_.front().lapses < by) {
    // More than was needed.
    size_ = std::max(size_ - allowances_.front().left, Duration::zero());
    allowances_.pop_front();
  }
}

std::optional<TimePoint> Purse::covered_from(Duration time, TimePoint use_at) {
  while (true) {
    drop_lapsed(use_at);
    Duration missing = time;
    for (auto it = allowances_.begin(); it != allowances_.end() && missing > Duration::zero();
         ++it) {
      const Duration part = std::min(missing, it->left);
      use_at = std::max(use_at, it->last_at - (it->left - part));
      missing -= part;
    }
    if (missing > Duration::zero()) return std::nullopt;
    if (allowances_.front().lapses >= use_at) return use_at;
  }
}

void Purse::pay(Duration time) {
  while (time > Duration::zero()) {
    Allowance& first = allowances_.front();
    const Duration part = std::min(time, first.left);
    first.left -= part;
    time -= part;
    if (first.left == Duration::zero()) allowances_.pop_front();
  }
}

std::optional<RateDecision> Purse::spend(const Take& take, TimePoint now) {
  RateDecision decision = decide(take, std::max(full_at_ - now, Duration::zero()));
  if (!decision.allowed) return decision;
  const auto use_at = covered_from(take.cost, now + decision.delay);
  if (!use_at) return std::nullopt;
  const Duration delay = *use_at - now;
  if (delay > take.wait) return RateDecision{.retry_after = delay};
  pay(take.cost);
  full_at_ = std::max(full_at_, *use_at) + take.cost;
  decision.delay = delay;
  return decision;
}

Purse::Wanted Purse::wanted(const Take& take, Duration others, TimePoint now) {
  const bool is_busy = asked_at_ && now - *asked_at_ < kLife;
  size_ = is_busy ? std::min(2 * std::max(size_, take.cost), kSpan) : Duration::zero();
  asked_at_ = now;
  const auto in_permits = [&](Duration time) { return time / take.interval * take.interval; };
  const Duration most = std::max(in_permits(kSpan), take.cost);
  Wanted ask{.most = take, .least = std::max(in_permits(size_ / 2), take.cost)};
  ask.most.cost = std::min(std::max(in_permits(size_), take.cost + others), most);
  ask.most.tolerance = std::max(take.tolerance, most);
  return ask;
}

void Purse::add(Duration time, TimePoint last_at, TimePoint now) {
  allowances_.push_back(
      {.left = time, .last_at = last_at, .lapses = std::max(last_at, now) + kLate});
}

bool Purse::is_idle(TimePoint now) const {
  return full_at_ < now && (allowances_.empty() || allowances_.back().lapses < now);
}

}  // namespace holdfast::core
