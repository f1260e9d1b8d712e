#include "engines/postgres/advisory/advisory_key.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace holdfast::postgres {
namespace {

TEST(AdvisoryKeyTest, IsTheBeginningOfTheHashOfPrefixAndName) {
  EXPECT_EQ(advisory_key("hf/", "reports/daily"), -2993365089731622528);
  EXPECT_EQ(advisory_key("hf/reports", "/daily"), -2993365089731622528);
  EXPECT_EQ(advisory_key("hf/", "ä"), 5474179972142470694);
  EXPECT_EQ(advisory_key("", "x"), 3274422879871479876);
}

TEST(AdvisoryKeyTest, OfANumberIsThatNumberWhateverThePrefix) {
  EXPECT_EQ(advisory_key("hf/", "id:42"), 42);
  EXPECT_EQ(advisory_key("", "id:42"), 42);
  EXPECT_EQ(advisory_key("hf/", "id:0"), 0);
  EXPECT_EQ(advisory_key("hf/", "id:-7"), -7);
  const auto least = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(advisory_key("hf/", "id:" + std::to_string(least)), least);
}

TEST(AdvisoryKeyTest, OfANumberThatIsWrittenOtherwiseIsAHash) {
  EXPECT_EQ(advisory_key("hf/", "id:01"), -6682616322477026903);
  EXPECT_EQ(advisory_key("hf/", "id:"), 2550936258029463465);
  for (const char* name : {"id:+1", "id:-0", "id:1 ", "id:9223372036854775808", "ID:1"}) {
    EXPECT_NE(advisory_key("hf/", name), 1) << name;
    EXPECT_NE(advisory_key("hf/", name), advisory_key("", name)) << name;
  }
}

}  // namespace
}  // namespace holdfast::postgres
