// DurationSketch: how long things took, as counts in buckets that grow by a fifth each.
//
// A quantile read from it is within kRelativeError of the true one, between kLeast and kMost. Two
// sketches add up to the sketch of all they have seen, in any order. As bytes it has at most
// kBytesMax.
//
// Thread safety: as a plain value.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "holdfast/clock.h"

namespace holdfast::observe {

class DurationSketch {
 public:
  static constexpr double kGrowth = 1.2;
  static constexpr double kRelativeError = (kGrowth - 1) / (kGrowth + 1);
  /// Anything shorter counts as this.
  static constexpr Duration kLeast = std::chrono::microseconds{1};
  /// Anything longer counts as this.
  static constexpr Duration kMost = std::chrono::hours{24};
  static constexpr std::size_t kBytesMax = 1024;

  void add(Duration duration);
  void merge(const DurationSketch& other);

  std::uint64_t count() const;
  /// The duration that a share `q` (0 to 1) of them did not exceed. Empty when there are none.
  std::optional<Duration> quantile(double q) const;

  /// Appends its bytes.
  void encode(std::string& to) const;
  /// Takes its bytes off the front. Empty when they are not a sketch.
  static std::optional<DurationSketch> decode(std::string_view& from);

  friend bool operator==(const DurationSketch&, const DurationSketch&) = default;

 private:
  /// kGrowth to the power of this is more than kMost / kLeast.
  static constexpr std::size_t kBuckets = 140;
  /// Five bytes hold it.
  static constexpr std::uint64_t kCountMax = (std::uint64_t{1} << 35) - 1;

  static std::size_t bucket_of(Duration duration);
  void add(std::size_t bucket, std::uint64_t amount);

  std::array<std::uint64_t, kBuckets> counts_{};
};

}  // namespace holdfast::observe
