// Where values stand on a picture whose equal steps are powers of ten.

#pragma once

#include <string>
#include <vector>

namespace holdfast::lab {

class LogAxis {
 public:
  struct Range {
    double least{0};
    double most{0};
  };

  /// From the power of ten at or below the least value to the one at or above the most, one step
  /// at least, between two edges. Precondition: 0 < least <= most.
  LogAxis(Range values, double edge_of_least, double edge_of_most);

  /// Values beyond the axis stand at its edges.
  double at(double value) const;

  /// The exponents to mark: all of them, or evenly some if there are more than `most`.
  std::vector<int> marks(int most) const;

 private:
  int first_;
  int last_;
  double begin_;
  double end_;
};

/// "10⁻⁶".
std::string power_of_ten(int exponent);

}  // namespace holdfast::lab
