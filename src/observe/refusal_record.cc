#include "observe/refusal_record.h"

#include <algorithm>
#include <utility>

#include "holdfast/options.h"
#include "observe/varint.h"

namespace holdfast::observe {
namespace {

constexpr std::string_view kRefusalsMagic = "hfr1";

std::optional<std::string> take_text(std::string_view& from) {
  const auto size = take_varint(from);
  if (!size || *size > from.size()) return std::nullopt;
  std::string text{from.substr(0, *size)};
  from.remove_prefix(*size);
  return text;
}

}  // namespace

void RefusalRecord::add(std::string_view resource, std::int64_t now_ms) {
  RefusalRecord one{.total = 1, .since_ms = now_ms, .resources = {}};
  one.resources[std::string{resource.substr(0, kNameBytesMax)}] = {.count = 1, .last_ms = now_ms};
  merge(one);
}

void RefusalRecord::merge(const RefusalRecord& other) {
  total += other.total;
  const bool both = since_ms != 0 && other.since_ms != 0;
  since_ms = both ? std::min(since_ms, other.since_ms) : std::max(since_ms, other.since_ms);
  for (const auto& [name, refused] : other.resources) {
    Refused& sum = resources[name];
    sum.count += refused.count;
    sum.last_ms = std::max(sum.last_ms, refused.last_ms);
  }
  while (resources.size() > kResourcesMax) forget_the_oldest();
}

void RefusalRecord::forget_the_oldest() {
  resources.erase(std::ranges::min_element(
      resources, {}, [](const auto& entry) { return entry.second.last_ms; }));
}

std::string RefusalRecord::encode() const {
  std::string bytes{kRefusalsMagic};
  put_varint(bytes, total);
  put_varint(bytes, static_cast<std::uint64_t>(since_ms));
  put_varint(bytes, resources.size());
  for (const auto& [name, refused] : resources) {
    put_varint(bytes, name.size());
    bytes += name;
    put_varint(bytes, refused.count);
    put_varint(bytes, static_cast<std::uint64_t>(refused.last_ms));
  }
  return bytes;
}

std::optional<RefusalRecord> RefusalRecord::decode(std::string_view bytes) {
  if (!bytes.starts_with(kRefusalsMagic)) return std::nullopt;
  bytes.remove_prefix(kRefusalsMagic.size());
  const auto total = take_varint(bytes);
  const auto since = take_varint(bytes);
  const auto size = take_varint(bytes);
  if (!total || !since || !size) return std::nullopt;
  RefusalRecord record{
      .total = *total, .since_ms = static_cast<std::int64_t>(*since), .resources = {}};
  for (std::uint64_t i = 0; i < *size; ++i) {
    auto name = take_text(bytes);
    const auto count = take_varint(bytes);
    const auto last = take_varint(bytes);
    if (!name || !count || !last) return std::nullopt;
    record.resources[std::move(*name)] = {.count = *count,
                                          .last_ms = static_cast<std::int64_t>(*last)};
  }
  if (!bytes.empty()) return std::nullopt;
  return record;
}

}  // namespace holdfast::observe
