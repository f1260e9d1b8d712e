// Totals as Prometheus' text format has them.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "observe/counts.h"

namespace holdfast::observe {

/// Totals, and the label that tells them from others: `lock="name"`, or nothing.
struct Series {
  std::string label;
  Totals totals{};
};

/// A label with its value escaped.
std::string label(std::string_view name, std::string_view value);

std::string to_prometheus(const std::vector<Series>& series);

}  // namespace holdfast::observe
