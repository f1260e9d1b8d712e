#include "observe/duration_sketch.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "observe/varint.h"

namespace holdfast::observe {

std::size_t DurationSketch::bucket_of(Duration duration) {
  const Duration within = std::clamp<Duration>(duration, kLeast, kMost);
  const double times = static_cast<double>(within.count()) / Duration{kLeast}.count();
  const auto bucket = static_cast<std::size_t>(std::ceil(std::log(times) / std::log(kGrowth)));
  return std::min(bucket, kBuckets - 1);
}

void DurationSketch::add(std::size_t bucket, std::uint64_t amount) {
  counts_[bucket] = std::min(kCountMax, counts_[bucket] + amount);
}

void DurationSketch::add(Duration duration) { add(bucket_of(duration), 1); }

void DurationSketch::merge(const DurationSketch& other) {
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) add(bucket, other.counts_[bucket]);
}

std::uint64_t DurationSketch::count() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

std::optional<Duration> DurationSketch::quantile(double q) const {
  const std::uint64_t all = count();
  if (all == 0) return std::nullopt;
  const auto rank =
      static_cast<std::uint64_t>(std::ceil(std::clamp(q, 0.0, 1.0) * static_cast<double>(all)));
  std::uint64_t passed = 0;
  std::size_t bucket = 0;
  for (; bucket + 1 < kBuckets; ++bucket) {
    passed += counts_[bucket];
    if (passed >= std::max<std::uint64_t>(rank, 1)) break;
  }
  // As far from the lower bound of the bucket as from the upper one, relatively.
  const double times = 2 * std::pow(kGrowth, static_cast<double>(bucket)) / (kGrowth + 1);
  return bucket == 0 ? Duration{kLeast} : Duration{std::llround(times * Duration{kLeast}.count())};
}

void DurationSketch::encode(std::string& to) const {
  const auto used = static_cast<std::uint64_t>(
      std::ranges::count_if(counts_, [](std::uint64_t count) { return count != 0; }));
  put_varint(to, used);
  std::size_t last = 0;
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    if (counts_[bucket] == 0) continue;
    put_varint(to, bucket - last);
    put_varint(to, counts_[bucket]);
    last = bucket;
  }
}

std::optional<DurationSketch> DurationSketch::decode(std::string_view& from) {
  const auto used = take_varint(from);
  if (!used || *used > kBuckets) return std::nullopt;
  DurationSketch sketch;
  std::uint64_t bucket = 0;
  for (std::uint64_t n = 0; n < *used; ++n) {
    const auto step = take_varint(from);
    const auto count = take_varint(from);
    if (!step || !count || *step >= kBuckets - bucket || *count > kCountMax) return std::nullopt;
    bucket += *step;
    sketch.counts_[bucket] = *count;
  }
  return sketch;
}

}  // namespace holdfast::observe
