#include "engines/postgres/driver/postgres_url.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace holdfast::postgres {
namespace {

using namespace std::chrono_literals;

Error error_of(std::string_view url) {
  const auto parsed = parse_postgres_url(url);
  return parsed ? Error{Errc::internal, "parsed"} : parsed.error();
}

TEST(PostgresUrlTest, AddressesAndParametersAreAsLibpqReadsThem) {
  const std::pair<const char*, Parameters> examples[] = {
      {"postgres://", {}},
      {"PostgreSQL://h", {{"host", "h"}}},
      {"postgres:///shop", {{"dbname", "shop"}}},
      {"postgres://app:p%40s@a:1,b:2/shop",
       {{"user", "app"},
        {"password", "p@s"},
        {"host", "a,b"},
        {"port", "1,2"},
        {"dbname", "shop"}}},
      {"postgres://[::1]:5/x?sslmode=verify-full&application_name=a%20b",
       {{"host", "::1"},
        {"port", "5"},
        {"dbname", "x"},
        {"sslmode", "verify-full"},
        {"application_name", "a b"}}},
      {"postgres://%2Ftmp/x?ssl=true", {{"host", "/tmp"}, {"dbname", "x"}, {"sslmode", "require"}}},
  };
  for (const auto& [url, parameters] : examples) {
    const auto parsed = parse_postgres_url(url);
    ASSERT_TRUE(parsed) << url << ": " << parsed.error().message;
    EXPECT_EQ(parsed->target.parameters, parameters) << url;
  }
}

TEST(PostgresUrlTest, ParametersOfOursAreTakenOut) {
  const auto parsed = parse_postgres_url(
      "postgres://app:secret@h:1/shop?mode=advisory&prefix=mine/&timeout=250ms&user=other"
      "&listen=postgres%3A%2F%2Fdirect%3A2&pooler=session");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->mode, Mode::advisory);
  EXPECT_EQ(parsed->prefix, "mine/");
  EXPECT_EQ(parsed->timeout, 250ms);
  EXPECT_EQ(parsed->target.connect_timeout, 250ms);
  EXPECT_EQ(parsed->target.pooling, Pooling::session);
  EXPECT_EQ(parsed->target.parameters,
            (Parameters{{"user", "other"},
                        {"password", "secret"},
                        {"host", "h"},
                        {"port", "1"},
                        {"dbname", "shop"}}));
  EXPECT_EQ(parsed->target.direct,
            (Parameters{{"user", "other"},
                        {"password", "secret"},
                        {"host", "direct"},
                        {"port", "2"},
                        {"dbname", "shop"}}));
  const auto by_words = parse_postgres_url("postgres://h:1?listen=host%3Dd%20user%3Dapp");
  ASSERT_TRUE(by_words);
  EXPECT_EQ(by_words->target.direct, (Parameters{{"user", "app"}, {"host", "d"}}));
}

TEST(PostgresUrlTest, DefaultsAreThoseOfTheDocumentation) {
  const auto parsed = parse_postgres_url("postgres://h");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->mode, Mode::lease);
  EXPECT_EQ(parsed->prefix, "hf/");
  EXPECT_EQ(parsed->timeout, 5s);
  EXPECT_EQ(parsed->target.direct, std::nullopt);
  EXPECT_EQ(parsed->target.pooling, Pooling::transaction);
  EXPECT_EQ(parse_postgres_url("postgres://h?prefix=")->prefix, "");
}

TEST(PostgresUrlTest, WhatIsWrongIsNamed) {
  const std::pair<const char*, const char*> examples[] = {
      {"redis://h", "does not begin with postgres://"},
      {"postgres:h", "does not begin with postgres://"},
      {"postgres://a:secret%zz@h", "libpq"},
      {"postgres://[::1", "libpq"},
      {"postgres://h:0", "port"},
      {"postgres://h:65536", "port"},
      {"postgres://h:x", "port"},
      {"postgres://h?colour=red", "no parameter 'colour'"},
      {"postgres://h?sslmode", "the parameter sslmode has no well-formed value"},
      {"postgres://h?sslmode=sometimes", "invalid sslmode"},
      {"postgres://h?password=secret%z", "the parameter password has no well-formed value"},
      {"postgres://h?mode=table", "mode"},
      {"postgres://h?timeout=0s", "timeout"},
      {"postgres://h?pooler=transaction", "pooler"},
      {"postgres://h?listen=secret", "listen"},
      {"postgres://h?listen=postgres%3A%2F%2Fd%3A0", "port"},
      {"postgres://h?service=nowhere", "nowhere"},
      {"postgres://a,b?hostaddr=127.0.0.1", "addresses"},
      {"postgres://a,b?port=1,2,3", "ports"},
  };
  for (const auto& [url, what] : examples) {
    const Error error = error_of(url);
    EXPECT_EQ(error.code, Errc::invalid_argument) << url;
    EXPECT_NE(error.message.find(what), std::string::npos) << url << ": " << error.message;
    EXPECT_EQ(error.message.find("secret"), std::string::npos) << error.message;
    EXPECT_EQ(error.remedy_text.find("secret"), std::string::npos) << error.remedy_text;
  }
}

TEST(PostgresUrlTest, KnowsItsSchemes) {
  EXPECT_TRUE(is_postgres_url("postgres://h"));
  EXPECT_TRUE(is_postgres_url("POSTGRESQL://h"));
  EXPECT_FALSE(is_postgres_url("postgresx://h"));
  EXPECT_FALSE(is_postgres_url("local:postgres"));
}

TEST(ConninfoTest, TheEnvironmentAndServiceFilesSayTheRest) {
  const std::string file =
      std::filesystem::temp_directory_path() / ("postgres_url_test." + std::to_string(getpid()));
  std::ofstream{file} << "[shop]\nhost=db1,db2\nport=7\ndbname=goods\n";
  setenv("PGSERVICEFILE", file.c_str(), 1);
  setenv("PGUSER", "clerk", 1);
  const auto all = with_defaults({{"service", "shop"}, {"sslmode", "require"}});
  unsetenv("PGUSER");
  unsetenv("PGSERVICEFILE");
  std::filesystem::remove(file);
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->at("dbname"), "goods");
  EXPECT_EQ(all->at("user"), "clerk");
  EXPECT_EQ(all->at("sslmode"), "require");
  EXPECT_FALSE(all->contains("target_session_attrs"));
  const auto hosts = hosts_of(*all);
  ASSERT_TRUE(hosts);
  EXPECT_EQ(*hosts, (std::vector<Host>{{"db1", "", "7"}, {"db2", "", "7"}}));
}

TEST(ConninfoTest, HostsAreNamedAsTheyAreWritten) {
  const auto hosts =
      hosts_of({{"host", "a,,/tmp"}, {"hostaddr", "1.2.3.4,::1,"}, {"port", "1,,3"}});
  ASSERT_TRUE(hosts) << hosts.error().message;
  ASSERT_EQ(hosts->size(), 3U);
  EXPECT_EQ(hosts->at(0).text(), "a:1");
  EXPECT_EQ(hosts->at(1).text(), "[::1]:5432");
  EXPECT_EQ(hosts->at(2).text(), "/tmp:3");
  for (const Host& host : *hosts) EXPECT_TRUE(host.is_address());
  EXPECT_FALSE((Host{.host = "localhost", .port = "1"}.is_address()));
  EXPECT_TRUE((Host{.host = "127.0.0.1", .port = "1"}.is_address()));
}

}  // namespace
}  // namespace holdfast::postgres
