#include "base/chacha.h"

#include <cstring>

namespace holdfast {
namespace {

using Lanes = std::uint32_t __attribute__((vector_size(16)));
using State = std::array<Lanes, 16>;

inline Lanes rotate(Lanes value, int bits) { return value << bits | value >> (32 - bits); }

inline void quarter_round(Lanes& a, Lanes& b, Lanes& c, Lanes& d) {
  a += b, d ^= a, d = rotate(d, 16);
  c += d, b ^= c, b = rotate(b, 12);
  a += b, d ^= a, d = rotate(d, 8);
  c += d, b ^= c, b = rotate(b, 7);
}

inline void double_round(State& x) {
  quarter_round(x[0], x[4], x[8], x[12]);
  quarter_round(x[1], x[5], x[9], x[13]);
  quarter_round(x[2], x[6], x[10], x[14]);
  quarter_round(x[3], x[7], x[11], x[15]);
  quarter_round(x[0], x[5], x[10], x[15]);
  quarter_round(x[1], x[6], x[11], x[12]);
  quarter_round(x[2], x[7], x[8], x[13]);
  quarter_round(x[3], x[4], x[9], x[14]);
}

inline Lanes same(std::uint32_t value) { return Lanes{value, value, value, value}; }

}  // namespace

ChachaBlocks chacha20_blocks(const ChachaKey& key) {
  State in{same(0x61707865), same(0x3320646e), same(0x79622d32), same(0x6b206574)};
  for (std::size_t i = 0; i < key.size(); ++i) in[4 + i] = same(key[i]);
  in[12] = Lanes{0, 1, 2, 3};
  State x = in;
  for (int i = 0; i < 10; ++i) double_round(x);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += in[i];
  ChachaBlocks blocks{};
  static_assert(sizeof blocks == sizeof x);
  std::memcpy(&blocks, x.data(), sizeof blocks);
  return blocks;
}

}  // namespace holdfast
