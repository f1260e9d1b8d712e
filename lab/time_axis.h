// Where moments stand on a picture. Long waits are drawn shorter than they were, so that what
// happens within a millisecond can be told apart; the order is always true.

#pragma once

#include <vector>

#include "holdfast/clock.h"

namespace holdfast::lab {

class TimeAxis {
 public:
  /// Rising moments, spread between two edges.
  TimeAxis(std::vector<Duration> moments, double left, double right);

  /// Between the edges. Moments between two of those given are interpolated.
  double x(Duration at) const;

  double left() const { return left_; }
  double right() const { return right_; }

 private:
  std::vector<Duration> moments_;
  std::vector<double> places_;
  double left_;
  double right_;
};

}  // namespace holdfast::lab
