#include "core/url_text.h"

#include <gtest/gtest.h>

namespace holdfast::core {
namespace {

TEST(UrlTextTest, CutsAtTheFirstSeparatorAndWithoutOneTakesAll) {
  std::string_view rest = "a=b=c";
  EXPECT_EQ(cut(rest, '='), "a");
  EXPECT_EQ(rest, "b=c");
  EXPECT_EQ(cut(rest, '&'), "b=c");
  EXPECT_EQ(rest, "");
}

TEST(UrlTextTest, DecodesButNoNulAndNoBrokenSequence) {
  EXPECT_EQ(decode_url_text("a%20b"), "a b");
  EXPECT_EQ(decode_url_text("a%00b"), std::nullopt);
  EXPECT_EQ(decode_url_text("a%2"), std::nullopt);
}

TEST(UrlTextTest, SchemesAreInAnyLetters) {
  EXPECT_TRUE(has_scheme("ETCD://host", "etcd://"));
  EXPECT_FALSE(has_scheme("etcds://host", "etcd://"));
  EXPECT_FALSE(has_scheme("etc", "etcd://"));
}

TEST(UrlTextTest, AParameterWithoutAGoodValueIsNamed) {
  EXPECT_EQ(*parameter_value("ca", "x%2Fy"), "x/y");
  for (const std::optional<std::string_view> bad : {std::optional<std::string_view>{}, {"%zz"}}) {
    const auto value = parameter_value("ca", bad);
    ASSERT_FALSE(value);
    EXPECT_EQ(value.error().code, Errc::invalid_argument);
    EXPECT_NE(value.error().message.find("ca"), std::string::npos);
  }
}

TEST(UrlTextTest, APrefixIsEmptyOrTheBeginningOfAName) {
  EXPECT_TRUE(check_prefix(""));
  EXPECT_TRUE(check_prefix("hf/"));
  EXPECT_FALSE(check_prefix("a\tb"));
}

TEST(UrlTextTest, APasswordFileThatIsNotThereIsNamed) {
  const auto password = read_password_file("/nowhere/password");
  ASSERT_FALSE(password);
  EXPECT_EQ(password.error().code, Errc::io_error);
  EXPECT_NE(password.error().message.find("/nowhere/password"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::core
