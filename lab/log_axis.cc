#include "lab/log_axis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/assert.h"

namespace holdfast::lab {
namespace {

// The logarithm of a power of ten may miss its exponent by a rounding.
constexpr double kRounding = 1e-9;

}  // namespace

LogAxis::LogAxis(Range values, double edge_of_least, double edge_of_most)
    : first_{static_cast<int>(std::floor(std::log10(values.least) + kRounding))},
      last_{static_cast<int>(std::ceil(std::log10(values.most) - kRounding))},
      begin_{edge_of_least},
      end_{edge_of_most} {
  HOLDFAST_ASSERT(values.least > 0);
  HOLDFAST_ASSERT(values.least <= values.most);
  last_ = std::max(last_, first_ + 1);
}

double LogAxis::at(double value) const {
  const double exponent =
      std::clamp(std::log10(value), static_cast<double>(first_), static_cast<double>(last_));
  return begin_ + (exponent - first_) / (last_ - first_) * (end_ - begin_);
}

std::vector<int> LogAxis::marks(int most) const {
  const int step = (last_ - first_ + most) / most;
  std::vector<int> exponents;
  for (int exponent = last_; exponent >= first_; exponent -= step) exponents.push_back(exponent);
  return exponents;
}

std::string power_of_ten(int exponent) {
  constexpr std::array<std::string_view, 10> kRaised{
      "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = exponent < 0 ? "10⁻" : "10";
  for (const char digit : std::to_string(std::abs(exponent))) {
    text += kRaised[static_cast<std::size_t>(digit - '0')];
  }
  return text;
}

}  // namespace holdfast::lab
