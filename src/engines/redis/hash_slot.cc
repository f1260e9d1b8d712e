#include "engines/redis/hash_slot.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace holdfast::redis {
namespace {

/// CRC-16/XMODEM, as Redis clusters hash.
constexpr std::array<std::uint16_t, 256> kCrcTable = [] {
  std::array<std::uint16_t, 256> table{};
  for (unsigned byte = 0; byte < table.size(); ++byte) {
    unsigned crc = byte << 8;
    for (int bit = 0; bit < 8; ++bit) crc = (crc << 1) ^ ((crc & 0x8000U) != 0 ? 0x1021U : 0U);
    table[byte] = static_cast<std::uint16_t>(crc);
  }
  return table;
}();

std::uint16_t crc16(std::string_view text) {
  unsigned crc = 0;
  for (const char c : text) {
    crc = ((crc << 8) ^ kCrcTable[((crc >> 8) ^ static_cast<unsigned char>(c)) & 0xFFU]) & 0xFFFFU;
  }
  return static_cast<std::uint16_t>(crc);
}

std::vector<std::string> find_tags() {
  std::vector<std::string> tags(kSlots);
  std::size_t missing = kSlots;
  for (unsigned number = 0; missing > 0; ++number) {
    std::string text = std::to_string(number);
    std::string& tag = tags[crc16(text) % kSlots];
    if (!tag.empty()) continue;
    tag = std::move(text);
    --missing;
  }
  return tags;
}

}  // namespace

std::uint16_t hash_slot(std::string_view key) {
  const std::size_t open = key.find('{');
  if (open != std::string_view::npos) {
    const std::size_t close = key.find('}', open + 1);
    if (close != std::string_view::npos && close > open + 1) {
      key = key.substr(open + 1, close - open - 1);
    }
  }
  return crc16(key) % kSlots;
}

const std::string& slot_tag(std::uint16_t slot) {
  static const std::vector<std::string> tags = find_tags();
  return tags[slot];
}

std::vector<std::vector<std::size_t>> slot_batches(const std::vector<std::uint16_t>& slots,
                                                   std::size_t max) {
  std::vector<std::size_t> order(slots.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t at) { return slots[at]; });
  std::vector<std::vector<std::size_t>> batches;
  for (const std::size_t at : order) {
    const bool fits = !batches.empty() && batches.back().size() < max &&
                      slots[batches.back().front()] == slots[at];
    if (!fits) batches.emplace_back();
    batches.back().push_back(at);
  }
  return batches;
}

}  // namespace holdfast::redis
