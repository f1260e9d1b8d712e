#include "bench/limit_bench.h"

#include <atomic>

#include "base/assert.h"
#include "bench/sampling.h"
#include "holdfast/rate_limit.h"

namespace holdfast::bench {
namespace {

/// One reading of the clock, one swap.
Subject swap_subject() {
  static std::atomic<std::int64_t> word{0};
  return {.name = "floor", .body = [] {
            std::int64_t seen = word.load();
            const std::int64_t next = BootClock::now().time_since_epoch().count();
            HOLDFAST_ASSERT(word.compare_exchange_strong(seen, next));
          }};
}

/// Each with a key of its own: what is used under one limit counts for any other.
Subject decision_subject(RateLimiter& limiter, std::string key, const RateLimit& limit) {
  return {.name = key, .body = [&limiter, key, limit] {
            HOLDFAST_ASSERT(limiter.reserve(key, limit).has_value());
          }};
}

Case against(std::string name, const Timing& ours, std::string limit_name, double limit) {
  return {.name = std::move(name),
          .ops_s = 1e9 / ours.p50_ns,
          .p50_ns = ours.p50_ns,
          .p99_ns = ours.p99_ns,
          .limit_name = std::move(limit_name),
          .limit = limit,
          .ratio = limit / ours.p50_ns};
}

}  // namespace

Result<void> add_limits(Report& report, const Client& client) {
  auto limiter = RateLimiter::of(client);
  if (!limiter) return Unexpected{limiter.error()};
  constexpr double kMicrosecond = 1000;
  const RateLimit generous{.rate = Rate::per_second(10'000'000), .burst = 10'000'000};
  const RateLimit strict{.rate = Rate::per_hour(1)};
  const auto timings = time_in_turns({swap_subject(),
                                      decision_subject(*limiter, "user/4711", generous),
                                      decision_subject(*limiter, "user/4712", strict)});
  report.cases.push_back(
      against("rate limit, granted", timings[1], "clock read + swap", timings[0].p50_ns));
  report.cases.push_back(against("rate limit, granted", timings[1], "a microsecond", kMicrosecond));
  report.cases.back().target = 1;
  report.cases.push_back(against("rate limit, refused", timings[2], "a microsecond", kMicrosecond));
  report.cases.back().target = 1;
  return {};
}

}  // namespace holdfast::bench
