// Purse: the permits of one key that a process has taken ahead, and how it spends them.
//
// An engine that is too slow to be asked for every permit gives allowances: permits for about a
// quarter of a second, which may be used from a moment on (when the engine's own limit lets the
// last of them go) and lapse half a second later. The process hands them out by the same limit
// again, so that its own calls keep rate and burst exactly.
//
// What that adds up to: between any two moments, all processes together use at most what the rate
// gives in the time between, and the burst (or kSpan of the rate, where that is more), and what
// may have been taken up to kLife before: kLife of the rate.
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
  static constexpr Duration kSpan = std::chrono::milliseconds{250};
  /// For how long one may be used.
  static constexpr Duration kLife = 2 * kSpan;

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

  /// What the engine gave: permits for `time`, to be used from `from` on.
  void add(Duration time, TimePoint from);

  /// Nothing in it can be used any more, and nobody is held up.
  bool is_idle(TimePoint now) const;

 private:
  struct Allowance {
    Duration left;
    TimePoint from;
    TimePoint lapses() const { return from + kLife; }
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
