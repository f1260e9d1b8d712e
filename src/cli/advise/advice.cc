#include "cli/advise/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/duration.h"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

constexpr Millis kTtlLeast = 1s;
constexpr Millis kTtlMost = 5min;

/// None is more than twice the one before.
constexpr std::array kRoundTtls{Millis{1s},
                                Millis{2s},
                                Millis{3s},
                                Millis{5s},
                                Millis{10s},
                                Millis{15s},
                                Millis{30s},
                                Millis{1min},
                                Millis{2min},
                                Millis{3min},
                                Millis{5min}};

std::string text_of(Duration duration) {
  const auto millis = std::chrono::duration_cast<Millis>(duration);
  if (millis >= Millis{1}) return format_duration(millis);
  return fmt::format("{}us",
                     std::chrono::duration_cast<std::chrono::microseconds>(duration).count());
}

std::string ttl_text(const LockTimes& times) {
  const Millis ttl = advised_ttl(times.hold.p99);
  std::string text = fmt::format("use --ttl {}", format_duration(ttl));
  if (5 * times.hold.p99 > kTtlMost) {
    return text +
           fmt::format(
               ": the lease is renewed while it is held, which may take longer; a longer TTL "
               "would only let others wait longer after a crash");
  }
  if (10 * times.hold.p99 < kTtlLeast) {
    return text + ": much longer than it is held, and long enough for a pause of the process";
  }
  return text + fmt::format(": {:.0f} times what 99 % of the holds took, renewed at a third of it",
                            std::chrono::duration<double>{ttl} / times.hold.p99);
}

std::string lock_text(const LockTimes& times) {
  const double share = contended_share(times);
  if (share < kLowContention) {
    return fmt::format(
        "{:.1f} % had to wait: contention is low. If the work is to change one value, `update` "
        "does it without a lock. If it is to be done once, or twice does no harm, use `once` with "
        "an idempotency key",
        100 * share);
  }
  return fmt::format(
      "{:.1f} % had to wait: a lock is right. Without one they would all try at once, and most in "
      "vain. If each piece of work has a key, `once` lets different pieces run side by side",
      100 * share);
}

std::string waiting_text(const LockTimes& times) {
  return fmt::format(
      "99 % of the waits ended within {}, longer than 10 holds: there is more work than one holder "
      "at a time can do. Split the name, hold for less, or allow several with --permits",
      text_of(times.wait.p99));
}

/// The first word of an engine's URL, and what its locks can promise.
struct Promise {
  std::string_view scheme;
  std::string_view text;
};
constexpr std::array kPromises{
    Promise{"local",
            "local: one machine alone. For programs on several, use etcd, ZooKeeper, "
            "PostgreSQL or Redis"},
    Promise{"redis",
            "Redis: quick, and a failover or a restart can forget a lock. Enough where two "
            "at once cost money; where they cost data, open the resource with the token, "
            "or use etcd, ZooKeeper or PostgreSQL"},
    Promise{"etcd",
            "etcd: a majority keeps every lock; it survives the loss of servers. Tokens are "
            "checked by its store"},
    Promise{"zookeeper",
            "ZooKeeper: a majority keeps every lock; it survives the loss of servers. "
            "Tokens are checked by its store"},
    Promise{"postgres",
            "PostgreSQL: as durable as the database. The token can be checked in the "
            "transaction that writes"}};

std::string_view engine_text(std::string_view engine) {
  // rediss://, redis+cluster://, etcds:// and postgresql:// promise the same.
  const auto found = std::ranges::find_if(
      kPromises, [engine](const Promise& promise) { return engine.starts_with(promise.scheme); });
  return found == kPromises.end() ? "" : found->text;
}

}  // namespace

double contended_share(const LockTimes& times) {
  if (times.wait.samples == 0) return 0;
  return static_cast<double>(times.contended) / static_cast<double>(times.wait.samples);
}

Millis advised_ttl(Duration hold_p99) {
  for (const Millis ttl : kRoundTtls) {
    if (ttl >= 5 * hold_p99) return ttl;
  }
  return kTtlMost;
}

std::vector<Advice> advise(const LockTimes& times, std::string_view engine) {
  std::vector<Advice> advice;
  if (times.hold.samples < kSamplesEnough) {
    advice.push_back({"samples",
                      fmt::format("{} are few: take what follows as a hint, and measure more",
                                  times.hold.samples)});
  }
  if (times.hold.samples > 0) advice.push_back({"ttl", ttl_text(times)});
  advice.push_back({"lock", lock_text(times)});
  const bool crowded = contended_share(times) >= kLowContention && times.hold.samples > 0 &&
                       times.wait.p99 > 10 * times.hold.p99;
  if (crowded) advice.push_back({"waiting", waiting_text(times)});
  if (const auto promise = engine_text(engine); !promise.empty()) {
    advice.push_back({"engine", std::string{promise}});
  }
  return advice;
}

}  // namespace holdfast::cli
