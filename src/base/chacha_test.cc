#include "base/chacha.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/hex.h"

namespace holdfast {
namespace {

std::string block_text(const ChachaBlocks& blocks, std::size_t block) {
  std::vector<std::uint8_t> bytes;
  for (const auto& word : blocks) {
    for (int shift = 0; shift < 32; shift += 8) {
      bytes.push_back(static_cast<std::uint8_t>(word[block] >> shift));
    }
  }
  return to_hex(bytes);
}

// RFC 8439, appendix A.1, test vectors 1 and 2: key and nonce of zeros, block counters 0 and 1.
TEST(ChachaTest, MatchesTheVectorsOfTheStandardForAKeyOfZeros) {
  const ChachaBlocks blocks = chacha20_blocks({});
  EXPECT_EQ(block_text(blocks, 0),
            "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
            "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586");
  EXPECT_EQ(block_text(blocks, 1),
            "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
            "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f");
}

// RFC 8439, appendix A.1, test vector 4: key 00 ff 00 …, block counter 2.
TEST(ChachaTest, MatchesTheVectorOfTheStandardForAnotherKeyAndBlock) {
  const ChachaBlocks blocks = chacha20_blocks({0x0000ff00, 0, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(block_text(blocks, 2),
            "72d54dfbf12ec44b362692df94137f328fea8da73990265ec1bbbea1ae9af0ca"
            "13b25aa26cb4a648cb9b9d1be65b2c0924a66c54d545ec1b7374f4872e99f096");
}

}  // namespace
}  // namespace holdfast
