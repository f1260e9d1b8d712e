#include "engines/etcd/doctor/metrics.h"

#include <charconv>
#include <limits>

namespace holdfast::etcd {
namespace {

constexpr std::string_view kBucket = "_bucket{le=\"";

std::optional<double> number_in(std::string_view text) {
  if (text == "+Inf") return std::numeric_limits<double>::infinity();
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return number;
}

}  // namespace

Metrics Metrics::read(std::string_view text) {
  Metrics metrics;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const auto space = line.rfind(' ');
    if (line.starts_with('#') || space == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, space);
    const auto number = number_in(line.substr(space + 1));
    if (!number) continue;
    const auto bucket = name.find(kBucket);
    if (name.find('{') == std::string_view::npos) {
      metrics.values_.emplace(name, *number);
    } else if (bucket != std::string_view::npos && name.ends_with("\"}")) {
      const std::string_view bound = name.substr(bucket + kBucket.size());
      const auto limit = number_in(bound.substr(0, bound.size() - 2));
      if (limit) metrics.buckets_[std::string{name.substr(0, bucket)}][*limit] = *number;
    }
  }
  return metrics;
}

std::optional<double> Metrics::value(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

std::optional<double> Metrics::quantile(std::string_view histogram, double part) const {
  const auto found = buckets_.find(histogram);
  if (found == buckets_.end() || found->second.empty()) return std::nullopt;
  const double all = found->second.rbegin()->second;
  if (all <= 0) return std::nullopt;
  for (const auto& [bound, count] : found->second) {
    if (count >= all * part) return bound;
  }
  return std::nullopt;
}

}  // namespace holdfast::etcd
