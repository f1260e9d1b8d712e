#include "client/engine_url.h"

#include <gtest/gtest.h>

#include "base/percent.h"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

Error error_of(std::string_view url) {
  const auto parsed = parse_engine_url(url);
  return parsed ? Error{Errc::internal, "parsed"} : parsed.error();
}

TEST(EngineUrlTest, DirectoryIsTheDefaultOrAbsolute) {
  EXPECT_EQ(parse_engine_url("local:")->directory, "");
  EXPECT_EQ(parse_engine_url("LOCAL:")->directory, "");
  EXPECT_EQ(parse_engine_url("local:/var/lib/app")->directory, "/var/lib/app");
  EXPECT_EQ(parse_engine_url("local:/a%20b%3f%25")->directory, "/a b?%");
}

TEST(EngineUrlTest, RelativeDirectoryIsRefusedWithTheRemedy) {
  const Error error = error_of("local:state");
  EXPECT_EQ(error.code, Errc::invalid_argument);
  EXPECT_NE(error.message.find("not absolute"), std::string::npos);
  EXPECT_NE(error.remedy().find("local:/directory"), std::string::npos);
}

TEST(EngineUrlTest, HostIsRefused) {
  EXPECT_EQ(error_of("local://host/dir").code, Errc::invalid_argument);
}

TEST(EngineUrlTest, BadPercentSequencesAreRefused) {
  for (const char* url : {"local:/a%", "local:/a%2", "local:/a%zz", "local:/a%00"}) {
    EXPECT_EQ(error_of(url).code, Errc::invalid_argument) << url;
  }
}

TEST(EngineUrlTest, ParametersAreUnderstood) {
  const auto parsed = parse_engine_url("local:/d?prefix=team%2Fa%26&timeout=5s");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->directory, "/d");
  EXPECT_EQ(parsed->prefix, "team/a&");
  EXPECT_EQ(parsed->timeout, Millis{5s});
  EXPECT_EQ(parse_engine_url("local:?prefix=")->prefix, "");
  EXPECT_EQ(parse_engine_url("local:?timeout=250ms")->timeout, 250ms);
}

TEST(EngineUrlTest, UnknownParameterIsRefusedByName) {
  const Error error = error_of("local:?prefix=a&colour=red");
  EXPECT_EQ(error.code, Errc::invalid_argument);
  EXPECT_NE(error.message.find("'colour'"), std::string::npos);
  EXPECT_EQ(error.message.find("red"), std::string::npos);
}

TEST(EngineUrlTest, BadParameterValuesAreRefused) {
  for (const char* url : {"local:?prefix",
                          "local:?prefix=%0a",
                          "local:?prefix=%ff",
                          "local:?timeout=",
                          "local:?timeout=5",
                          "local:?timeout=-5s",
                          "local:?timeout=0s",
                          "local:?timeout=25000m",
                          "local:?timeout=99999999999999999999s"}) {
    EXPECT_EQ(error_of(url).code, Errc::invalid_argument) << url;
  }
}

TEST(EngineUrlTest, EnginesOfOtherBuildsAreUnsupported) {
  for (const char* url : {"http://u:secret@h", "https://h"}) {
    const Error error = error_of(url);
    EXPECT_EQ(error.code, Errc::unsupported) << url;
    EXPECT_NE(error.message.find("not in this build"), std::string::npos) << url;
    EXPECT_EQ(error.message.find("secret"), std::string::npos);
  }
}

TEST(EngineUrlTest, UnknownSchemesAreInvalidAndNotQuotedWhenTheyMayBeSecrets) {
  EXPECT_EQ(error_of("mysql://h").code, Errc::invalid_argument);
  EXPECT_NE(error_of("mysql://h").message.find("mysql:"), std::string::npos);
  for (const char* url : {"", ":", "/var/lib", "host", "pass@word:x"}) {
    EXPECT_EQ(error_of(url).code, Errc::invalid_argument) << url;
    EXPECT_EQ(error_of(url).message.find("pass"), std::string::npos);
  }
}

TEST(EngineUrlTest, EncodingComesBackFromParsing) {
  const std::string odd = "a b&c=?%/é";
  EXPECT_EQ(parse_engine_url("local:?prefix=" + percent_encode(odd))->prefix, odd);
}

}  // namespace
}  // namespace holdfast
