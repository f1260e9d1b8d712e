#include "holdfast/rate_limit.h"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "core/backend.h"
#include "core/limiter_backend.h"
#include "core/limits.h"
#include "holdfast/client.h"

namespace holdfast {
namespace {

Result<core::Take> checked(std::string_view key,
                           const RateLimit& limit,
                           const TakeOptions& options) {
  if (auto good = core::check_key(key); !good) return Unexpected{good.error()};
  return core::to_take(limit, options);
}

/// False: `stop` was requested first.
bool sleep_until(TimePoint when, std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock{mutex};
  // The boot-time clock is not one that is waited by: what was slept too short is slept again.
  for (Duration left = when - BootClock::now(); left > Duration::zero();
       left = when - BootClock::now()) {
    changed.wait_for(lock, stop, left, [] { return false; });
    if (stop.stop_requested()) return false;
  }
  return true;
}

}  // namespace

Result<RateLimiter> RateLimiter::connect(std::string_view url) {
  const auto client = Client::connect(url);
  if (!client) return Unexpected{client.error()};
  return of(*client);
}

Result<RateLimiter> RateLimiter::of(const Client& client) {
  auto backend = client.backend()->limiter();
  if (!backend) return Unexpected{std::move(backend).error()};
  return RateLimiter{*std::move(backend)};
}

Result<RateDecision> RateLimiter::reserve(std::string_view key,
                                          const RateLimit& limit,
                                          const TakeOptions& options) {
  const auto take = checked(key, limit, options);
  if (!take) return Unexpected{take.error()};
  return backend_->reserve(key, *take);
}

Result<RateDecision> RateLimiter::take(std::string_view key,
                                       const RateLimit& limit,
                                       const TakeOptions& options,
                                       std::stop_token stop) {
  if (stop.stop_requested()) {
    return Unexpected{Error{Errc::cancelled, "it was cancelled before any permit was taken"}};
  }
  auto decision = reserve(key, limit, options);
  if (!decision || decision->delay == Duration::zero()) return decision;
  if (sleep_until(BootClock::now() + decision->delay, std::move(stop))) return decision;
  return Unexpected{Error{Errc::cancelled, "waiting for permits was cancelled; they are spent"}};
}

void RateLimiter::async_reserve(std::string_view key,
                                const RateLimit& limit,
                                const TakeOptions& options,
                                ReserveCallback callback) {
  const auto take = checked(key, limit, options);
  if (!take) return callback(Unexpected{take.error()});
  backend_->async_reserve(std::string{key}, *take, std::move(callback));
}

}  // namespace holdfast
