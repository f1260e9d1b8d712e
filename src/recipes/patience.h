// How long a recipe of several steps may still wait.

#pragma once

#include <algorithm>
#include <chrono>

#include "holdfast/options.h"

namespace holdfast::recipes {

class Patience {
 public:
  /// `wait` as in AcquireOptions, counted from `now`.
  Patience(TimePoint now, Millis wait)
      : forever_{wait == kForever}, until_{forever_ ? now : now + std::min(wait, kAges)} {}

  /// What is left of it, for AcquireOptions.
  Millis left(TimePoint now) const {
    if (forever_) return kForever;
    return std::max(Millis{0}, std::chrono::ceil<Millis>(until_ - now));
  }

 private:
  /// As good as for ever, and far from the end of the clock.
  static constexpr Millis kAges{std::chrono::hours{24 * 365 * 10}};

  bool forever_;
  TimePoint until_;
};

}  // namespace holdfast::recipes
