#include "client/shown_postgres_url.h"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

std::string shown(const std::string& url) {
  const auto parsed = postgres::parse_postgres_url(url);
  return parsed ? shown_postgres_url(*parsed) : parsed.error().message;
}

TEST(ShownPostgresUrlTest, TellsEverythingButPasswords) {
  EXPECT_EQ(shown("postgres://app:secret@a:1,b:2/shop?mode=advisory&prefix=team%20a/"),
            "postgres://app@a:1,b:2/shop?prefix=team%20a/&mode=advisory");
  EXPECT_EQ(shown("postgresql://127.0.0.1?prefix=&sslmode=require&password=secret"),
            "postgres://127.0.0.1?prefix=&sslmode=require");
  EXPECT_EQ(shown("postgres://a/d?prefix=x&pooler=session&timeout=1s"),
            "postgres://a/d?prefix=x&pooler=session");
}

TEST(ShownPostgresUrlTest, LeadsToTheSameServers) {
  for (const char* url : {"postgres://app@a:1,b:2/shop?prefix=hf/",
                          "postgres://app@%2Frun%2Fpostgresql:5433/shop?prefix=hf/",
                          "postgres://[::1]:5433/shop?prefix=hf/",
                          "postgres://a:6432/shop?prefix=hf/&listen=postgres://a:5432"}) {
    const auto parsed = postgres::parse_postgres_url(url);
    ASSERT_TRUE(parsed) << url;
    const auto again = postgres::parse_postgres_url(shown_postgres_url(*parsed));
    ASSERT_TRUE(again) << shown_postgres_url(*parsed);
    EXPECT_EQ(again->target.parameters, parsed->target.parameters) << url;
    EXPECT_EQ(again->target.direct, parsed->target.direct) << url;
  }
}

TEST(ShownPostgresUrlTest, ThePasswordOfTheServerBehindAPoolerIsNotTold) {
  const std::string text = shown("postgres://a:6432/shop?listen=postgres://app:secret@b:5432");
  EXPECT_EQ(text.find("secret"), std::string::npos) << text;
  EXPECT_NE(text.find("listen="), std::string::npos) << text;
}

}  // namespace
}  // namespace holdfast
