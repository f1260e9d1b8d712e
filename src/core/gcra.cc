#include "core/gcra.h"

#include <algorithm>
#include <string>

#include "base/decimal.h"
#include "base/invalid.h"

namespace holdfast::core {
namespace {

/// Rounded up to whole nanoseconds an interval is at most 1 % too long.
constexpr Duration kIntervalMin{100};
constexpr Duration kRateTimeMax = std::chrono::hours{30 * 24};

Result<Duration> interval_of(const Rate& rate) {
  if (rate.permits == 0) return invalid("the rate has no permits", "give at least one");
  if (rate.per <= Duration::zero() || rate.per > kRateTimeMax) {
    return invalid("the time of the rate is out of range", "use at most 30 days");
  }
  const auto time = static_cast<std::uint64_t>(rate.per.count());
  const std::uint64_t interval = time / rate.permits + (time % rate.permits == 0 ? 0 : 1);
  if (Duration{interval} < kIntervalMin) {
    return invalid("the rate is too high", "use at most 10 million in a second");
  }
  return Duration{interval};
}

/// kAheadMax: it is more than that.
Duration times(Duration interval, std::uint64_t count) {
  const auto most = static_cast<std::uint64_t>(kAheadMax / interval);
  return count > most ? kAheadMax : interval * static_cast<std::int64_t>(count);
}

}  // namespace

Result<Take> to_take(const RateLimit& limit, const TakeOptions& options) {
  const auto interval = interval_of(limit.rate);
  if (!interval) return Unexpected{interval.error()};
  const std::uint64_t burst = limit.burst == 0 ? limit.rate.permits : limit.burst;
  Take take{.interval = *interval, .tolerance = times(*interval, burst)};
  if (take.tolerance > kToleranceMax) {
    return invalid("a burst of " + std::to_string(burst) + " is too large for the rate",
                   "use a burst that comes back within 31 days");
  }
  if (options.cost == 0 || options.cost > burst) {
    return invalid("a cost of " + std::to_string(options.cost) + " can never be taken from a " +
                       "burst of " + std::to_string(burst),
                   "use a cost of 1 to the burst");
  }
  if (options.wait < Millis{0}) return invalid("the wait is negative", "use 0 or more");
  take.cost = times(*interval, options.cost);
  take.wait = std::min<Millis>(options.wait, std::chrono::duration_cast<Millis>(kTakeWaitMax));
  return take;
}

RateDecision decide(const Take& take, Duration ahead) {
  const Duration delay = std::max(ahead + take.cost - take.tolerance, Duration::zero());
  RateDecision decision{.allowed = delay <= take.wait};
  (decision.allowed ? decision.delay : decision.retry_after) = delay;
  const Duration left = take.tolerance - ahead_after(take, ahead, decision);
  if (left > Duration::zero()) {
    decision.remaining = static_cast<std::uint64_t>(left / take.interval);
  }
  return decision;
}

Duration ahead_at(const AheadMark& mark, Duration now) {
  const Duration passed = std::max(now - mark.at, Duration::zero());
  return std::clamp(mark.ahead - passed, Duration::zero(), kAheadMax);
}

std::string to_text(const AheadMark& mark) {
  return std::to_string(mark.at.count()) + ' ' + std::to_string(mark.ahead.count());
}

std::optional<AheadMark> read_ahead_mark(std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const auto at = parse_decimal<std::int64_t>(text.substr(0, space));
  const auto ahead = parse_decimal<std::int64_t>(text.substr(space + 1));
  if (!at || !ahead || *at < 0 || *ahead < 0) return std::nullopt;
  return AheadMark{.at = Duration{*at}, .ahead = Duration{*ahead}};
}

}  // namespace holdfast::core
