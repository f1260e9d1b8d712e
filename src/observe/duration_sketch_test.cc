#include "observe/duration_sketch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace holdfast::observe {
namespace {

using namespace std::chrono_literals;

/// From a microsecond to a day, as many short ones as long ones.
std::vector<Duration> some_durations(std::uint32_t seed, std::size_t count) {
  std::mt19937 chance{seed};
  std::uniform_real_distribution<double> exponent{std::log(1e3), std::log(8.6e13)};
  std::vector<Duration> durations(count);
  for (Duration& one : durations) one = Duration{std::llround(std::exp(exponent(chance)))};
  return durations;
}

DurationSketch sketch_of(const std::vector<Duration>& durations) {
  DurationSketch sketch;
  for (const Duration one : durations) sketch.add(one);
  return sketch;
}

TEST(DurationSketchTest, QuantilesAreWithinTheRelativeError) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    auto durations = some_durations(seed, 1 + seed * 37);
    const DurationSketch sketch = sketch_of(durations);
    std::ranges::sort(durations);
    for (const double q : {0.0, 0.01, 0.5, 0.9, 0.99, 1.0}) {
      const auto rank = std::max<std::size_t>(
          1, static_cast<std::size_t>(std::ceil(q * static_cast<double>(durations.size()))));
      const auto exact = static_cast<double>(durations[rank - 1].count());
      const auto got = static_cast<double>(sketch.quantile(q)->count());
      EXPECT_NEAR(got, exact, exact * DurationSketch::kRelativeError + 1) << seed << " " << q;
    }
  }
}

TEST(DurationSketchTest, OrderOfMergingDoesNotMatter) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    const DurationSketch a = sketch_of(some_durations(3 * seed, 100));
    const DurationSketch b = sketch_of(some_durations(3 * seed + 1, 10));
    const DurationSketch c = sketch_of(some_durations(3 * seed + 2, 1000));
    DurationSketch ab_c = a;
    ab_c.merge(b);
    ab_c.merge(c);
    DurationSketch cb = c;
    cb.merge(b);
    DurationSketch a_cb = a;
    a_cb.merge(cb);
    EXPECT_EQ(ab_c, a_cb);
    cb.merge(a);
    EXPECT_EQ(ab_c, cb);
    EXPECT_EQ(ab_c.count(), 1110u);
  }
}

TEST(DurationSketchTest, MergedSketchIsThatOfAllTogether) {
  auto all = some_durations(1, 500);
  const auto more = some_durations(2, 700);
  DurationSketch merged = sketch_of(all);
  merged.merge(sketch_of(more));
  all.insert(all.end(), more.begin(), more.end());
  EXPECT_EQ(merged, sketch_of(all));
}

TEST(DurationSketchTest, BytesGiveBackTheSame) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    const DurationSketch sketch = sketch_of(some_durations(seed, seed * 20));
    std::string bytes;
    sketch.encode(bytes);
    bytes += "rest";
    std::string_view from = bytes;
    EXPECT_EQ(DurationSketch::decode(from), sketch);
    EXPECT_EQ(from, "rest");
  }
}

// Doubling it again and again fills every bucket to the brim.
TEST(DurationSketchTest, FullestSketchFitsAndCountsNoFurther) {
  DurationSketch sketch = sketch_of(some_durations(7, 100'000));
  for (int i = 0; i < 40; ++i) sketch.merge(sketch);
  std::string bytes;
  sketch.encode(bytes);
  EXPECT_LE(bytes.size(), DurationSketch::kBytesMax);
  DurationSketch twice = sketch;
  twice.merge(sketch);
  EXPECT_EQ(twice, sketch);
  std::string_view from = bytes;
  EXPECT_EQ(DurationSketch::decode(from), sketch);
}

TEST(DurationSketchTest, OutOfRangeCountsAtTheEnds) {
  DurationSketch sketch;
  EXPECT_EQ(sketch.quantile(0.5), std::nullopt);
  sketch.add(-1s);
  EXPECT_EQ(sketch.quantile(0.5), DurationSketch::kLeast);
  sketch.add(1000h);
  EXPECT_GT(*sketch.quantile(1), 20h);
  EXPECT_LT(*sketch.quantile(1), 28h);
}

TEST(DurationSketchTest, BytesThatAreNoSketchAreRefused) {
  std::string bytes;
  sketch_of(some_durations(1, 100)).encode(bytes);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    std::string_view part = std::string_view{bytes}.substr(0, length);
    EXPECT_FALSE(DurationSketch::decode(part)) << length;
  }
  for (const std::string& wrong :
       {std::string(20, '\xff'), std::string{"\x01\xff\x7f\x01", 4}, std::string{"\x02\x01", 2}}) {
    std::string_view from = wrong;
    EXPECT_FALSE(DurationSketch::decode(from));
  }
}

}  // namespace
}  // namespace holdfast::observe
