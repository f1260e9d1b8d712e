// Four blocks of the ChaCha20 key stream at a time (RFC 8439), one per vector lane.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace holdfast {

inline constexpr std::size_t kChachaBlocks = 4;

using ChachaKey = std::array<std::uint32_t, 8>;

/// Word w of block b is at [w][b].
using ChachaBlocks = std::array<std::array<std::uint32_t, kChachaBlocks>, 16>;

/// Blocks number 0 to 3 under the key, with a nonce of zero.
ChachaBlocks chacha20_blocks(const ChachaKey& key);

}  // namespace holdfast
