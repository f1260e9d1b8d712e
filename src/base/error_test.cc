#include "holdfast/error.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace holdfast {
namespace {

constexpr int kFirst = static_cast<int>(Errc::busy);
constexpr int kLast = static_cast<int>(Errc::internal);

TEST(ErrorTest, EveryCodeHasItsOwnNameAndARemedy) {
  std::set<std::string_view> names;
  for (int value = kFirst; value <= kLast; ++value) {
    const Errc code{value};
    EXPECT_FALSE(to_string(code).empty());
    EXPECT_GT(remedy(code).size(), 10U) << to_string(code);
    EXPECT_TRUE(names.insert(to_string(code)).second) << to_string(code) << " appears twice";
  }
}

TEST(ErrorTest, AForeignValueReadsAsADefect) {
  EXPECT_EQ(to_string(Errc{kLast + 1}), "internal");
  EXPECT_EQ(to_string(Errc{0}), "internal");
}

TEST(ErrorTest, ConvertsToAStandardErrorCode) {
  const std::error_code code = Errc::unknown_outcome;
  EXPECT_STREQ(code.category().name(), "holdfast");
  EXPECT_EQ(code.message(), "unknown_outcome");
  EXPECT_EQ(code, make_error_code(Errc::unknown_outcome));
  EXPECT_NE(code, make_error_code(Errc::lost));
}

TEST(ErrorTest, OwnRemedyReplacesTheOneOfTheCode) {
  EXPECT_EQ(Error{Errc::busy}.remedy(), remedy(Errc::busy));
  const Error error{Errc::busy, "lock x is held", "ask its owner"};
  EXPECT_EQ(error.message, "lock x is held");
  EXPECT_EQ(error.remedy(), "ask its owner");
}

}  // namespace
}  // namespace holdfast
