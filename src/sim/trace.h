// Trace: what happened in a world, in order, as lines and as one number to compare runs by.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/clock.h"

namespace holdfast::sim {

/// Thread safety: none.
class Trace {
 public:
  void note(TimePoint when, std::string_view what);

  /// Equal for equal runs; FNV-1a over every line.
  std::uint64_t hash() const { return hash_; }
  std::uint64_t events() const { return events_; }
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::uint64_t hash_{0xcbf29ce484222325};
  std::uint64_t events_{0};
  std::vector<std::string> lines_;
};

}  // namespace holdfast::sim
