// Purse: the permits of one key that a process has taken ahead, and how it spends them.
//
// An engine that is too slow to be asked for every permit gives allowances: permits for up to a
// fifth of a second. Each may be used from the moment on at which the engine's own limit lets it
// go, one interval after the other, so that what several processes do adds up evenly; and what is
// not used 0.3 seconds after the last of them lapses. The process hands them out by the same limit
// again, so that its own calls keep rate and burst exactly.
//
// What that adds up to: between any two moments, all processes together use at most what the rate
// gives in the time between, and the burst (or kSpan of the rate, where that is more), and kLife of
// the rate, since that is how far before or after one another permits of one moment may be used.
//
// Decisions only: no clock and no I/O.

#pragma once

#include <deque>
#include <optional>

#include "core/gcra.h"

namespace holdfast::core {

class Purse {
 public:
  /// The most permits in one allowance, as the time in which the rate gives them.
  static constexpr Duration kSpan = std::chrono::milliseconds{200};
  /// How long the last of them may be used.
  static constexpr Duration kLate = std::chrono::milliseconds{300};
  static constexpr Duration kLife = kSpan + kLate;

  /// Answers with what is there. Empty: more must be asked for.
  std::optional<RateDecision> spend(const Take& take, TimePoint now);

  struct Wanted {
    Take most;
    /// With less, the engine would soon be asked again: rather wait until it has this much.
    Duration least{0};
  };
  /// What to ask the engine for, on behalf of this request and others that wait for `others`
  /// permits' time. Only what is needed at first, and more the sooner it is used up.
  Wanted wanted(const Take& take, Duration others, TimePoint now);

  /// What the engine gave: permits for `time`. Its limit lets the last of them go at `last_at`,
  /// which may have passed, and each one interval after the one before.
  void add(Duration time, TimePoint last_at, TimePoint now);

  /// Nothing in it can be used any more, and nobody is held up.
  bool is_idle(TimePoint now) const;

 private:
  struct Allowance {
    Duration left;
    TimePoint last_at;
    TimePoint lapses;
  };

  void drop_lapsed(TimePoint by);
  /// From when on what is there covers this much, at `use_at` at the earliest. Empty: it does not.
  std::optional<TimePoint> covered_from(Duration time, TimePoint use_at);
  void pay(Duration time);

  std::deque<Allowance> allowances_;
  /// When this process's own use has its whole burst back.
  TimePoint full_at_{};
  Duration size_{0};
  std::optional<TimePoint> asked_at_;
};

}  // namespace holdfast::core
