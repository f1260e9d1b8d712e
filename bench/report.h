// What a benchmark of an engine found: each case against a limit measured in the same run.

#pragma once

#include <functional>
#include <string>
#include <vector>

namespace holdfast::bench {

struct Case {
  std::string name;
  double ops_s{0};
  double p50_ns{0};
  double p99_ns{0};
  /// What it is measured against, and that thing's own figure in the unit of `unit`.
  std::string limit_name;
  double limit{0};
  std::string unit{"ns"};
  /// How good, where 1 is as good as the limit and more is better.
  double ratio{0};
  /// What the ratio should be at least. 0: for comparison alone.
  double target{0};
  bool met() const { return ratio >= target; }
};

struct Report {
  std::string engine;
  std::vector<Case> cases;
};

/// Called with a line for people before each part.
using Progress = std::function<void(const std::string&)>;

}  // namespace holdfast::bench
