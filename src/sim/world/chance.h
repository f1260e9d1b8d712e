// Chance: everything random in a simulated world, from one seed.

#pragma once

#include <cstdint>

#include "holdfast/clock.h"

namespace holdfast::sim {

/// A probability in thousandths.
struct PerMille {
  std::uint32_t value{0};
};

/// Thread safety: none. The same seed gives the same draws on every machine.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_{seed} {}

  /// SplitMix64.
  std::uint64_t draw() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }

  /// 0 to bound - 1. The bias is of no account for bounds far below 2^64.
  std::uint64_t below(std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>(Wide{draw()} * bound >> 64);
  }

  bool happens(PerMille probability) { return below(1000) < probability.value; }

  /// From `low` to `high`, both included.
  Duration between(Duration low, Duration high) {
    const auto span = static_cast<std::uint64_t>((high - low).count());
    return low + Duration{static_cast<Duration::rep>(below(span + 1))};
  }

 private:
  std::uint64_t state_;
};

}  // namespace holdfast::sim
