// A RateLimiter says how often something may be done, together with everybody who uses the key.
//
//     auto limiter = holdfast::RateLimiter::connect("redis://localhost");
//     const auto taken = limiter->take("user/42", {.rate = Rate::per_second(10)});
//     if (!taken) return fail(taken.error());
//     if (!taken->allowed) return too_many_requests(taken->retry_after);
//
// The limit is GCRA's: a key lets `burst` permits go at once, and has them back one by one, evenly,
// at the rate. There is no window at whose edge twice as many could pass, and nothing to reset.
// Nobody creates a key: one that was never used, or not for a while, has its whole burst.
//
// The limit comes with every call. Who calls with another limit sees the same use of the key and
// judges it by its own: give every caller of a key the same one.
//
// What "together" means: at `local:` every process of the machine, at Redis and PostgreSQL every
// client of the server, exactly, by one clock. At etcd and ZooKeeper every client, where a process
// takes some permits ahead: docs/guide/rate_limits.md says how exact that is. Redlock has none.
//
// Blocking here; holdfast/async_rate_limit.h has the same for completion tokens and coroutines.
//
// Thread safety: every member may be called from any thread.
// Lifetime: cheap to copy; copies share one core. After fork() the child must connect anew: calls
// answer Errc::shutting_down.
// Limits: keys are 1 to 512 bytes of UTF-8 without control characters; anything else is
// invalid_argument and nothing is touched.
// Failures of every call: unavailable, unknown_outcome (the permits may be spent), denied,
// no_space, corrupt, io_error. Whether to go on without an answer is the caller's to decide.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string_view>
#include <type_traits>

#include "holdfast/clock.h"
#include "holdfast/result.h"

namespace holdfast {

class Client;
/// Implemented by engines; not for use by programs.
class LimiterBackend;

/// So many in so much time: from 1 in 30 days to 10 million in a second.
struct Rate {
  std::uint64_t permits{1};
  Duration per{std::chrono::seconds{1}};

  static constexpr Rate per_second(std::uint64_t permits) {
    return {permits, std::chrono::seconds{1}};
  }
  static constexpr Rate per_minute(std::uint64_t permits) {
    return {permits, std::chrono::minutes{1}};
  }
  static constexpr Rate per_hour(std::uint64_t permits) { return {permits, std::chrono::hours{1}}; }
};

struct RateLimit {
  Rate rate{};
  /// How many may go at once. 0: as many as the rate has in its time, ten for 10 per second.
  /// At most what comes back in 31 days.
  std::uint64_t burst{0};
};

struct TakeOptions {
  /// How many permits this takes: all of them, or none. At most the burst.
  std::uint64_t cost{1};
  /// How long to wait for them at most, up to 30 days; kForever counts as that. Zero: not at all.
  Millis wait{0};
};

// As AcquireOptions, for g++ 12.
static_assert(std::is_trivially_destructible_v<RateLimit>);
static_assert(std::is_trivially_destructible_v<TakeOptions>);

/// Whether it may be done. A refusal takes nothing.
struct RateDecision {
  bool allowed{false};
  /// How many more could be taken at once now.
  std::uint64_t remaining{0};
  /// allowed: how long to wait before it is done. Of take(): how long that has waited.
  Duration delay{0};
  /// Refused: when the same would be allowed at once, if nobody else takes any.
  Duration retry_after{0};
};

class RateLimiter {
 public:
  /// Opens the limiter of an engine by its URL, as Client::connect does for locks.
  /// unsupported: the engine has none.
  static Result<RateLimiter> connect(std::string_view url);

  /// The limiter of a client's engine, over the same connections. Fails as connect().
  static Result<RateLimiter> of(const Client& client);

  explicit RateLimiter(std::shared_ptr<LimiterBackend> backend) : backend_{std::move(backend)} {}

  /// Takes permits, and waits until they may be used. Those who wait are served in the order in
  /// which they came, and each asks the engine once.
  ///
  /// cancelled: `stop` was requested; if that was while it waited, the permits are spent.
  /// invalid_argument names what is out of range; so is a cost above the burst.
  Result<RateDecision> take(std::string_view key,
                            const RateLimit& limit,
                            const TakeOptions& options = {},
                            std::stop_token stop = {});

  /// As take() without the waiting, which is left to the caller: RateDecision::delay.
  Result<RateDecision> reserve(std::string_view key,
                               const RateLimit& limit,
                               const TakeOptions& options = {});

  using ReserveCallback = std::function<void(Result<RateDecision>)>;

  /// As reserve(), without blocking. The callback runs once, on a thread of the engine's or before
  /// this returns; it must not block.
  void async_reserve(std::string_view key,
                     const RateLimit& limit,
                     const TakeOptions& options,
                     ReserveCallback callback);

 private:
  std::shared_ptr<LimiterBackend> backend_;
};

}  // namespace holdfast
