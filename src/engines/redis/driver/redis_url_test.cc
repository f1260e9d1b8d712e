#include "engines/redis/driver/redis_url.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

Error error_of(std::string_view url) {
  const auto parsed = parse_redis_url(url);
  return parsed ? Error{Errc::internal, "parsed"} : parsed.error();
}

struct Example {
  const char* url;
  const char* node;
  const char* user;
  const char* password;
  std::uint32_t database;
};

TEST(RedisUrlTest, AddressesAreUnderstood) {
  const Example addresses[] = {
      {"redis://h", "h:6379", "", "", 0},
      {"REDIS://h", "h:6379", "", "", 0},
      {"redis://h/", "h:6379", "", "", 0},
      {"redis://127.0.0.1:7000/2", "127.0.0.1:7000", "", "", 2},
      {"redis://[::1]", "[::1]:6379", "", "", 0},
      {"redis://[fe80::1]:7000/1", "[fe80::1]:7000", "", "", 1},
      {"redis://app:secret@h:1/15", "h:1", "app", "secret", 15},
      {"redis://:secret@h", "h:6379", "", "secret", 0},
      {"redis://app@h", "h:6379", "app", "", 0},
      {"redis://a%40b:p%3a%2F%25@h", "h:6379", "a@b", "p:/%", 0},
      {"redis://app:with@at@h", "h:6379", "app", "with@at", 0},
      {"rediss://h:6380", "h:6380", "", "", 0},
      {"redis+unix:///run/redis.sock", "/run/redis.sock", "", "", 0},
      {"redis+unix:///run/a%20b?db=4", "/run/a b", "", "", 4},
      {"redis+unix://app:secret@/run/r", "/run/r", "app", "secret", 0},
  };
  for (const Example& address : addresses) {
    const auto parsed = parse_redis_url(address.url);
    ASSERT_TRUE(parsed) << address.url << ": " << parsed.error().message;
    EXPECT_EQ(parsed->target.node(), address.node) << address.url;
    EXPECT_EQ(parsed->target.user, address.user) << address.url;
    EXPECT_EQ(parsed->target.password, address.password) << address.url;
    EXPECT_EQ(parsed->target.database, address.database) << address.url;
  }
}

TEST(RedisUrlTest, AClusterHasSeveralNodes) {
  const auto parsed = parse_redis_url("rediss+cluster://app:secret@a:7000,[::1]:7001,c?ca=/ca");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->kind, RedisUrl::Kind::cluster);
  EXPECT_EQ(parsed->nodes, (std::vector<Address>{{"a", 7000}, {"::1", 7001}, {"c", 6379}}));
  EXPECT_EQ(parsed->target.user, "app");
  EXPECT_EQ(parsed->target.tls.value().ca_file, "/ca");
  EXPECT_TRUE(parse_redis_url("redis+cluster://a/0"));
}

TEST(RedisUrlTest, SentinelsNameAMaster) {
  const auto parsed =
      parse_redis_url("redis+sentinel://:secret@a,b:7000/my%20master?db=3&sentinel_user=watch");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->kind, RedisUrl::Kind::sentinel);
  EXPECT_EQ(parsed->nodes, (std::vector<Address>{{"a", 26379}, {"b", 7000}}));
  EXPECT_EQ(parsed->master_name, "my master");
  EXPECT_EQ(parsed->target.password, "secret");
  EXPECT_EQ(parsed->target.database, 3U);
  EXPECT_EQ(parsed->sentinel_user, "watch");
}

TEST(RedisUrlTest, DefaultsHold) {
  const auto parsed = parse_redis_url("redis://h");
  EXPECT_EQ(parsed->prefix, "hf:");
  EXPECT_EQ(parsed->timeout, 5s);
  EXPECT_FALSE(parsed->target.tls);
}

TEST(RedisUrlTest, ParametersAreUnderstood) {
  const auto parsed = parse_redis_url(
      "rediss://h?prefix=team%2Fa%26&timeout=250ms&ca=/ca.pem&cert=/c.pem&key=/k%20.pem"
      "&servername=redis.example");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->prefix, "team/a&");
  EXPECT_EQ(parsed->timeout, 250ms);
  EXPECT_EQ(parsed->target.connect_timeout, 250ms);
  ASSERT_TRUE(parsed->target.tls);
  EXPECT_EQ(parsed->target.tls->ca_file, "/ca.pem");
  EXPECT_EQ(parsed->target.tls->cert_file, "/c.pem");
  EXPECT_EQ(parsed->target.tls->key_file, "/k .pem");
  EXPECT_EQ(parsed->target.tls->server_name, "redis.example");
  EXPECT_EQ(parse_redis_url("redis://h?prefix=")->prefix, "");
}

struct Wrong {
  const char* url;
  const char* complaint;
};

TEST(RedisUrlTest, WrongUrlsAreRefusedWithTheReason) {
  const Wrong wrongs[] = {
      {"", "does not begin with"},
      {"redis:", "does not begin with"},
      {"redis:h", "does not begin with"},
      {"mysql://h", "does not begin with"},
      {"redis://", "names no host"},
      {"redis:///1", "names no host"},
      {"redis://u:secret@", "names no host"},
      {"redis://:6379", "names no host"},
      {"redis://h%zz", "names no host"},
      {"redis://h:0", "the port"},
      {"redis://h:secret", "the port"},
      {"redis://h:65536", "the port"},
      {"redis://[::1", "bracket"},
      {"redis://[::1]secret", "after the bracket"},
      {"redis://h/one", "the database"},
      {"redis://h/-1", "the database"},
      {"redis://h/99999999999", "the database"},
      {"redis://u:secret%zz@h", "credentials"},
      {"redis://u:secret%00@h", "credentials"},
      {"redis+unix://relative", "no absolute path"},
      {"redis+unix://", "no absolute path"},
      {"redis+unix:///p?db=x", "the database"},
      {"redis://h?db=1", "db belongs to redis+unix:"},
      {"redis://h?colour=secret", "no parameter 'colour'"},
      {"redis://h?prefix", "prefix has no well-formed value"},
      {"redis://h?prefix=%0a", "prefix"},
      {"redis://h?timeout=5", "timeout"},
      {"redis://h?timeout=0s", "timeout"},
      {"redis://h?timeout=-5s", "timeout"},
      {"redis://h?timeout=25000m", "timeout"},
      {"redis://h?ca=/x", "TLS"},
      {"rediss://h?cert=/x", "only one of cert and key"},
      {"rediss://h?key=/x", "only one of cert and key"},
      {"redis://u:secret@h?password_file=/x", "both a password and a password_file"},
      {"redis+cluster://", "names no host"},
      {"redis+cluster://a,,b", "names no host"},
      {"redis+cluster://a:0", "not 1 to 65535"},
      {"redis+cluster://a/1", "one database"},
      {"redis+cluster://a?prefix=a{b}", "braces"},
      {"redis+cluster://a?db=1", "db belongs to"},
      {"redis+sentinel://a", "names no master"},
      {"redis+sentinel://a/", "names no master"},
      {"redis+sentinel://a/b/c", "names no master"},
      {"redis://h?sentinel_user=x", "parameters for sentinels"},
  };
  for (const Wrong& wrong : wrongs) {
    const Error error = error_of(wrong.url);
    EXPECT_EQ(error.code, Errc::invalid_argument) << wrong.url;
    EXPECT_NE(error.message.find(wrong.complaint), std::string::npos)
        << wrong.url << ": " << error.message;
    EXPECT_EQ(error.message.find("secret"), std::string::npos) << wrong.url;
    EXPECT_FALSE(error.remedy().empty());
  }
}

class PasswordTest : public testing::Test {
 protected:
  PasswordTest() { std::ofstream{file_} << "from file\n"; }
  ~PasswordTest() override {
    std::filesystem::remove(file_);
    unsetenv("HOLDFAST_REDIS_PASSWORD");
  }

  const std::string file_ =
      std::filesystem::temp_directory_path() / ("holdfast-password-" + std::to_string(getpid()));
};

TEST_F(PasswordTest, ComesFromAFile) {
  EXPECT_EQ(parse_redis_url("redis://h?password_file=" + file_)->target.password, "from file");
}

TEST_F(PasswordTest, AFileThatCannotBeReadIsNamed) {
  const Error error = error_of("redis://h?password_file=/nonexistent/password");
  EXPECT_EQ(error.code, Errc::io_error);
  EXPECT_NE(error.message.find("/nonexistent/password"), std::string::npos);
  EXPECT_EQ(error_of("redis://h?password_file=/").code, Errc::io_error);
}

TEST_F(PasswordTest, ComesFromTheEnvironmentWhenNothingElseGivesIt) {
  setenv("HOLDFAST_REDIS_PASSWORD", "from environment", 1);
  EXPECT_EQ(parse_redis_url("redis://h")->target.password, "from environment");
  EXPECT_EQ(parse_redis_url("redis://app@h")->target.password, "from environment");
  EXPECT_EQ(parse_redis_url("redis://app:url@h")->target.password, "url");
  EXPECT_EQ(parse_redis_url("redis://h?password_file=" + file_)->target.password, "from file");
}

}  // namespace
}  // namespace holdfast::redis
