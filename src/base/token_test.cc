#include "holdfast/token.h"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

constexpr std::string_view kText = "000102030405060708090a0b0c0d0e0f";

TEST(OwnerTest, TextReadsBackAsTheSameOwner) {
  const auto owner = Owner::parse(kText);
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->to_string(), kText);
  EXPECT_EQ(owner->bytes()[15], 0x0f);
}

TEST(OwnerTest, RefusesAnythingButThirtyTwoDigits) {
  EXPECT_FALSE(Owner::parse(""));
  EXPECT_FALSE(Owner::parse(kText.substr(2)));
  EXPECT_FALSE(Owner::parse(std::string{kText} + "00"));
  EXPECT_FALSE(Owner::parse("zz0102030405060708090a0b0c0d0e0f"));
}

// SHA-256 of the sixteen bytes 00 … 0f begins be45cb2605bf36be.
TEST(OwnerTest, FingerprintIsTheBeginningOfTheHash) {
  EXPECT_EQ(Owner::parse(kText)->fingerprint(), "be45cb2605bf36be");
}

TEST(OwnerTest, FingerprintDoesNotShowTheSecret) {
  const Owner owner = *Owner::parse(kText);
  EXPECT_EQ(owner.fingerprint().size(), 16U);
  EXPECT_EQ(owner.to_string().find(owner.fingerprint()), std::string::npos);
}

TEST(TokenTest, OrdersByValueAndStaysExactInADouble) {
  EXPECT_LT(Token{1}, Token{2});
  EXPECT_EQ(Token{7}, Token{7});
  EXPECT_EQ(static_cast<std::uint64_t>(static_cast<double>(Token::kMax)), Token::kMax);
}

TEST(ModeTest, NamesReadBack) {
  for (const Mode mode : {Mode::exclusive, Mode::shared, Mode::permit}) {
    EXPECT_EQ(parse_mode(to_string(mode)), mode);
  }
  EXPECT_FALSE(parse_mode("Exclusive"));
  EXPECT_FALSE(parse_mode(""));
}

}  // namespace
}  // namespace holdfast
