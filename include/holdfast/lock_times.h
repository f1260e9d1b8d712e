// How long a lock is waited for and held, by everybody who uses it: kept beside the lock, in the
// store of its engine, so that advice can rest on the whole fleet.
//
//     auto times = std::make_shared<holdfast::TimesRecorder>();
//     auto client = holdfast::observed(*plain, times);
//     …
//     times->flush(client);                                   // now and then, and at the end
//     auto known = holdfast::lock_times(client, "reports/daily");
//
// For each lock one value of at most 3 KiB under the key `holdfast/times/<name>`: sketches of both
// times that add up, by compare-and-swap. Erase the key to begin anew.
//
// Beside them one value of at most 56 KiB under the key `holdfast/refusals`: which resources
// refused an operation because its holder had been overtaken, how often and when last. `holdfast
// top` shows it.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "holdfast/observer.h"

namespace holdfast {

/// Each time is within 9.1 % of the true one, between 1 µs and 24 h.
struct LockTimes {
  struct Spread {
    std::uint64_t samples{0};
    Duration p50{0};
    Duration p99{0};
  };

  Spread hold{};
  /// Zero times of those that did not have to wait are among them, as 1 µs.
  Spread wait{};
  /// How many of the waits were for somebody in the way.
  std::uint64_t contended{0};
  /// Wall clock, milliseconds since 1970: when the first and the last were added.
  std::int64_t since_ms{0};
  std::int64_t until_ms{0};
};

/// What was measured of a lock, or nothing. unsupported: the engine has no store. corrupt: somebody
/// else wrote the key. invalid_argument: the name is longer than 497 bytes. Others as Store::get().
Result<std::optional<LockTimes>> lock_times(Client& client, std::string_view name);

/// Gathers the times of an observed client, and the stale operations that its stores refused. It
/// uses no client by itself: flush() is given one.
class TimesRecorder final : public Observer {
 public:
  TimesRecorder();
  ~TimesRecorder() override;
  TimesRecorder(const TimesRecorder&) = delete;
  TimesRecorder& operator=(const TimesRecorder&) = delete;

  void observe(const Event& event) noexcept override;

  /// Adds what was gathered since the last time to what the engine has. One request to read and one
  /// to write per lock, and as much again if there were refusals. On an error, what was not added
  /// is gathered still; errors as lock_times().
  Result<void> flush(Client& client);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holdfast
