#include "core/limits.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

bool name_ok(std::string_view name) { return check_name(name).has_value(); }

std::string complaint(const Result<void>& result) {
  EXPECT_FALSE(result);
  if (result) return {};
  EXPECT_EQ(result.error().code, Errc::invalid_argument);
  return result.error().message;
}

TEST(LimitsTest, NamesHaveOneToFiveHundredAndTwelveBytes) {
  EXPECT_FALSE(name_ok(""));
  EXPECT_TRUE(name_ok("a"));
  EXPECT_TRUE(name_ok(std::string(512, 'a')));
  EXPECT_FALSE(name_ok(std::string(513, 'a')));
}

TEST(LimitsTest, NamesHaveNoControlCharacters) {
  EXPECT_TRUE(name_ok("a b/c:d~"));
  EXPECT_FALSE(name_ok("a\nb"));
  EXPECT_FALSE(name_ok(std::string_view{"a\0b", 3}));
  EXPECT_FALSE(name_ok("\x7f"));
  EXPECT_FALSE(name_ok("\xc2\x80"));
  EXPECT_TRUE(name_ok("\xc2\xa0"));
}

TEST(LimitsTest, NamesAreWellFormedUtf8) {
  EXPECT_TRUE(name_ok("naïve-鎖-🔒"));
  EXPECT_TRUE(name_ok("\xf4\x8f\xbf\xbf"));
  EXPECT_FALSE(name_ok("\xc3"));
  EXPECT_FALSE(name_ok("\x80"));
  EXPECT_FALSE(name_ok("\xc0\xaf"));
  EXPECT_FALSE(name_ok("\xe0\x80\xaf"));
  EXPECT_FALSE(name_ok("\xed\xa0\x80"));
  EXPECT_FALSE(name_ok("\xf0\x8f\xbf\xbf"));
  EXPECT_FALSE(name_ok("\xf4\x90\x80\x80"));
  EXPECT_FALSE(name_ok("\xf5\x80\x80\x80"));
  EXPECT_FALSE(name_ok("\xff"));
}

TEST(LimitsTest, TheComplaintSaysWhere) {
  EXPECT_NE(complaint(check_name("ab\tc")).find("byte 2"), std::string::npos);
  EXPECT_NE(complaint(check_name(std::string(600, 'x'))).find("600"), std::string::npos);
}

TEST(LimitsTest, TtlIsAHundredMillisecondsToADay) {
  EXPECT_TRUE(check_ttl(100ms));
  EXPECT_TRUE(check_ttl(24h));
  EXPECT_NE(complaint(check_ttl(99ms)).find("99 ms"), std::string::npos);
  EXPECT_FALSE(check_ttl(24h + 1ms));
  EXPECT_FALSE(check_ttl(0ms));
  EXPECT_FALSE(check_ttl(-1s));
}

TEST(LimitsTest, EveryOptionIsCheckedAndNamed) {
  EXPECT_TRUE(check_options({}));
  EXPECT_NE(complaint(check_options({.ttl = 0ms})).find("TTL"), std::string::npos);
  EXPECT_NE(complaint(check_options({.wait = -1ms})).find("wait"), std::string::npos);
  EXPECT_NE(complaint(check_options({.lock_delay = -1ms})).find("lock-delay"), std::string::npos);
  EXPECT_NE(complaint(check_options({.lock_delay = 25h})).find("lock-delay"), std::string::npos);
  EXPECT_NE(complaint(check_options({.mode = Mode::permit})).find("permit"), std::string::npos);
  EXPECT_NE(complaint(check_options({.permits = 2})).find("permits"), std::string::npos);
}

TEST(LimitsTest, LabelAndTraceIdShareFourKibibytes) {
  const std::string half(2048, 'x');
  const std::string more(2049, 'x');
  EXPECT_TRUE(check_options({.label = half, .trace_id = half}));
  EXPECT_NE(complaint(check_options({.label = half, .trace_id = more})).find("4097"),
            std::string::npos);
}

RC_GTEST_PROP(LimitsProperty, PrintableAsciiOfAnyLengthUpToTheLimitIsAName, ()) {
  const auto length = *rc::gen::inRange<std::size_t>(1, kNameBytesMax + 1);
  const auto name = *rc::gen::container<std::string>(
      length, rc::gen::cast<char>(rc::gen::inRange<int>(0x20, 0x7f)));
  RC_ASSERT(name_ok(name));
}

RC_GTEST_PROP(LimitsProperty, NoBytesWhateverMakeItMisbehave, (const std::string& bytes)) {
  const auto result = check_name(bytes);
  if (!result) RC_ASSERT(result.error().code == Errc::invalid_argument);
}

}  // namespace
}  // namespace holdfast::core
