// GCRA, the generic cell rate algorithm: whether permits may go, as a pure function.
//
// All that is known of a key is how far it is *ahead*: the time until it has its whole burst back.
// A permit puts it ahead by one interval, and time brings it back. So nothing is counted, nothing
// is reset, and the answer says to the nanosecond when the next permit may go.
//
// Engines keep the time ahead and when it was true, change it in one atomic step, and tell how far
// ahead a key was before; decide() makes the answer of that, and what every script and function
// does is held to it.
//
// All numbers are whole nanoseconds below 2^53, exact in Lua.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "holdfast/rate_limit.h"

namespace holdfast::core {

inline constexpr Duration kToleranceMax = std::chrono::hours{31 * 24};
inline constexpr Duration kTakeWaitMax = std::chrono::hours{30 * 24};
/// No request that is granted leaves a key further ahead; what is read is cut off here.
inline constexpr Duration kAheadMax = kToleranceMax + kTakeWaitMax;

/// What is asked of a key, in time.
struct Take {
  /// In which one permit comes back.
  Duration interval{0};
  /// In which the whole burst does: how far ahead a key may be.
  Duration tolerance{0};
  /// By which this puts the key ahead.
  Duration cost{0};
  Duration wait{0};

  friend bool operator==(const Take&, const Take&) = default;
};

/// invalid_argument names the field that is out of range.
Result<Take> to_take(const RateLimit& limit, const TakeOptions& options);

/// What is asked of a key that is `ahead` so far.
RateDecision decide(const Take& take, Duration ahead);

/// How far ahead it is then.
constexpr Duration ahead_after(const Take& take, Duration ahead, const RateDecision& decision) {
  return decision.allowed ? ahead + take.cost : ahead;
}

/// How far ahead a key is, and when it was.
struct AheadMark {
  /// By a clock that all who write the mark share.
  Duration at{0};
  Duration ahead{0};

  friend bool operator==(const AheadMark&, const AheadMark&) = default;
};

/// How far ahead it is `now`. A clock that has gone back has not brought it back.
Duration ahead_at(const AheadMark& mark, Duration now);

/// `<at> <ahead>` in nanoseconds.
std::string to_text(const AheadMark& mark);
/// Empty: it is not one of to_text().
std::optional<AheadMark> read_ahead_mark(std::string_view text);

}  // namespace holdfast::core
