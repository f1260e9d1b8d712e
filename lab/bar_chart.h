// Draws times side by side: a bar for each, on one scale of powers of ten.

#pragma once

#include <string>
#include <vector>

#include "lab/sheet.h"

namespace holdfast::lab {

/// A median and a 99th percentile.
struct Bar {
  double median_ns{0};
  double high_ns{0};
};

struct BarChart {
  std::string title{};
  std::string lead{};
  /// What was timed: one colour each, up to six.
  std::vector<std::string> cases{};
  struct Row {
    std::string name;
    /// One for each case.
    std::vector<Bar> bars;
  };
  std::vector<Row> rows{};
  /// What is to be known about the figures, below them.
  std::vector<std::string> notes{};
};

/// Times above 0. A chart without rows has a heading and notes.
Picture draw_bars(const BarChart& chart);

/// "151 ns", "65.3 us", "1.2 ms", "3.4 s".
std::string short_time(double ns);

}  // namespace holdfast::lab
