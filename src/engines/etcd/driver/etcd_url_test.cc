#include "engines/etcd/driver/etcd_url.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace holdfast::etcd {
namespace {

using namespace std::chrono_literals;

Error error_of(std::string_view url) {
  const auto parsed = parse_etcd_url(url);
  return parsed ? Error{Errc::internal, "parsed"} : parsed.error();
}

struct Example {
  const char* url;
  std::vector<std::string> endpoints;
  const char* user;
  const char* password;
};

TEST(EtcdUrlTest, AddressesAreUnderstood) {
  const Example examples[] = {
      {"etcd://h", {"h:2379"}, "", ""},
      {"ETCD://h/", {"h:2379"}, "", ""},
      {"etcd://a,b:1,[::1]:2,[fe80::1]", {"a:2379", "b:1", "[::1]:2", "[fe80::1]:2379"}, "", ""},
      {"etcd://app:secret@h:1", {"h:1"}, "app", "secret"},
      {"etcd://a%40b:p%3a%2F%25@h", {"h:2379"}, "a@b", "p:/%"},
      {"etcd://app:with@at@h,g", {"h:2379", "g:2379"}, "app", "with@at"},
      {"etcds://h:2380?ca=/x", {"h:2380"}, "", ""},
  };
  for (const Example& example : examples) {
    const auto parsed = parse_etcd_url(example.url);
    ASSERT_TRUE(parsed) << example.url << ": " << parsed.error().message;
    std::vector<std::string> endpoints;
    for (const Endpoint& endpoint : parsed->target.endpoints) endpoints.push_back(endpoint.text());
    EXPECT_EQ(endpoints, example.endpoints) << example.url;
    EXPECT_EQ(parsed->target.user, example.user) << example.url;
    EXPECT_EQ(parsed->target.password, example.password) << example.url;
  }
}

TEST(EtcdUrlTest, ParametersAreUnderstood) {
  const auto parsed = parse_etcd_url(
      "etcds://h?prefix=app%2F&timeout=250ms&ca=/ca&cert=/cert&key=/key&servername=etcd.example");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->prefix, "app/");
  EXPECT_EQ(parsed->timeout, 250ms);
  EXPECT_EQ(parsed->target.connect_timeout, 250ms);
  ASSERT_TRUE(parsed->target.tls);
  EXPECT_EQ(parsed->target.tls->ca_file, "/ca");
  EXPECT_EQ(parsed->target.tls->cert_file, "/cert");
  EXPECT_EQ(parsed->target.tls->key_file, "/key");
  EXPECT_EQ(parsed->target.tls->server_name, "etcd.example");
}

TEST(EtcdUrlTest, DefaultsAreThoseOfTheDocumentation) {
  const auto parsed = parse_etcd_url("etcd://h");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->prefix, "hf/");
  EXPECT_EQ(parsed->timeout, 5s);
  EXPECT_FALSE(parsed->target.tls);
  EXPECT_EQ(parse_etcd_url("etcd://h?prefix=")->prefix, "");
}

TEST(EtcdUrlTest, WhatIsWrongIsNamed) {
  const std::pair<const char*, const char*> examples[] = {
      {"redis://h", "does not begin with etcd://"},
      {"etcd:h", "does not begin with etcd://"},
      {"etcd://", "names no host"},
      {"etcd://a,,b", "names no host"},
      {"etcd://a,", "names no host"},
      {"etcd://h:0", "port"},
      {"etcd://h:65536", "port"},
      {"etcd://h:x", "port"},
      {"etcd://[::1", "bracket that is not closed"},
      {"etcd://[::1]x", "after the bracket"},
      {"etcd://h/db", "after the hosts"},
      {"etcd://h?colour=red", "no parameter 'colour'"},
      {"etcd://h?prefix", "the parameter prefix has no well-formed value"},
      {"etcd://h?prefix=%zz", "the parameter prefix has no well-formed value"},
      {"etcd://h?prefix=%01", "the parameter prefix"},
      {"etcd://h?timeout=0s", "timeout"},
      {"etcd://h?ca=/ca", "a parameter of TLS"},
      {"etcds://h?cert=/cert", "only one of cert and key"},
      {"etcd://:secret@h", "a password and no user"},
      {"etcd://a%zz:secret@h", "bad % sequence"},
      {"etcd://app@h", "there is no password"},
      {"etcd://h?password_file=/x", "a password_file and no user"},
      {"etcd://app:secret@h?password_file=/x", "both a password and a password_file"},
  };
  unsetenv("HOLDFAST_ETCD_PASSWORD");
  for (const auto& [url, what] : examples) {
    const Error error = error_of(url);
    EXPECT_EQ(error.code, Errc::invalid_argument) << url;
    EXPECT_NE(error.message.find(what), std::string::npos) << url << ": " << error.message;
    EXPECT_EQ(error.message.find("secret"), std::string::npos) << error.message;
    EXPECT_EQ(error.remedy_text.find("secret"), std::string::npos) << error.remedy_text;
  }
}

TEST(EtcdUrlTest, ThePasswordComesFromAFileOrTheEnvironment) {
  const std::string file =
      std::filesystem::temp_directory_path() / ("etcd_url_test." + std::to_string(getpid()));
  std::ofstream{file} << "from file\r\nmore\n";
  EXPECT_EQ(parse_etcd_url("etcd://app@h?password_file=" + file)->target.password, "from file");
  std::filesystem::remove(file);
  const Error missing = error_of("etcd://app@h?password_file=" + file);
  EXPECT_EQ(missing.code, Errc::io_error);
  EXPECT_NE(missing.message.find(file), std::string::npos);

  setenv("HOLDFAST_ETCD_PASSWORD", "from environment", 1);
  EXPECT_EQ(parse_etcd_url("etcd://app@h")->target.password, "from environment");
  EXPECT_EQ(parse_etcd_url("etcd://app:given@h")->target.password, "given");
  EXPECT_EQ(parse_etcd_url("etcd://h")->target.password, "");
  unsetenv("HOLDFAST_ETCD_PASSWORD");
}

TEST(EtcdUrlTest, KnowsItsSchemes) {
  EXPECT_TRUE(is_etcd_url("etcd://h"));
  EXPECT_TRUE(is_etcd_url("ETCDS://h"));
  EXPECT_FALSE(is_etcd_url("etcdx://h"));
  EXPECT_FALSE(is_etcd_url("local:etcd"));
}

}  // namespace
}  // namespace holdfast::etcd
