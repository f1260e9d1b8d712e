#include "lab/time_axis.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace holdfast::lab {
namespace {

double weight(Duration gap) {
  const double ms = std::chrono::duration<double, std::milli>{gap}.count();
  return 1 + std::min(1.2, 0.5 * std::log10(1 + std::max(0.0, ms)));
}

}  // namespace

TimeAxis::TimeAxis(std::vector<Duration> moments, double left, double right)
    : moments_{std::move(moments)}, left_{left}, right_{right} {
  double total = 0;
  for (std::size_t n = 0; n < moments_.size(); ++n) {
    if (n > 0) total += weight(moments_[n] - moments_[n - 1]);
    places_.push_back(total);
  }
  for (double& place : places_) {
    place = total > 0 ? left + place / total * (right - left) : left;
  }
}

double TimeAxis::x(Duration at) const {
  const auto above = std::ranges::lower_bound(moments_, at);
  if (above == moments_.end()) return moments_.empty() ? left_ : right_;
  const auto n = static_cast<std::size_t>(above - moments_.begin());
  if (n == 0 || *above == at) return places_[n];
  const double part = static_cast<double>((at - moments_[n - 1]).count()) /
                      static_cast<double>((moments_[n] - moments_[n - 1]).count());
  return places_[n - 1] + part * (places_[n] - places_[n - 1]);
}

}  // namespace holdfast::lab
