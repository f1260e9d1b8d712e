// Hash slots: where a Redis cluster keeps a key.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::redis {

inline constexpr std::uint16_t kSlots = 16384;

/// The slot of a key: by what stands between its first brace and the next closing one if that is
/// something, otherwise by the whole key.
std::uint16_t hash_slot(std::string_view key);

/// A few digits whose slot is `slot`, to stand between braces. Always the same.
const std::string& slot_tag(std::uint16_t slot);

/// The places of `slots` in batches of at most `max`, each of one slot: what one script may serve.
std::vector<std::vector<std::size_t>> slot_batches(const std::vector<std::uint16_t>& slots,
                                                   std::size_t max);

}  // namespace holdfast::redis
