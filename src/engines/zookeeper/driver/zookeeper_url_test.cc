#include "engines/zookeeper/driver/zookeeper_url.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace holdfast::zookeeper {
namespace {

using namespace std::chrono_literals;

Error error_of(std::string_view url) {
  const auto parsed = parse_zookeeper_url(url);
  return parsed ? Error{Errc::internal, "parsed"} : parsed.error();
}

struct Example {
  const char* url;
  std::vector<std::string> endpoints;
  const char* user;
  const char* password;
  const char* chroot;
};

TEST(ZookeeperUrlTest, AddressesAreUnderstood) {
  const Example examples[] = {
      {"zookeeper://h", {"h:2181"}, "", "", ""},
      {"ZooKeeper://h/", {"h:2181"}, "", "", ""},
      {"zookeeper://a,b:1,[::1]:2/x/y", {"a:2181", "b:1", "[::1]:2"}, "", "", "/x/y"},
      {"zookeeper://app:secret@h:1/x/", {"h:1"}, "app", "secret", "/x"},
      {"zookeeper://a%40b:p%3a%2F%25@h/a%20b", {"h:2181"}, "a@b", "p:/%", "/a b"},
  };
  for (const Example& example : examples) {
    const auto parsed = parse_zookeeper_url(example.url);
    ASSERT_TRUE(parsed) << example.url << ": " << parsed.error().message;
    std::vector<std::string> endpoints;
    for (const Endpoint& endpoint : parsed->target.endpoints) endpoints.push_back(endpoint.text());
    EXPECT_EQ(endpoints, example.endpoints) << example.url;
    EXPECT_EQ(parsed->target.user, example.user) << example.url;
    EXPECT_EQ(parsed->target.password, example.password) << example.url;
    EXPECT_EQ(parsed->target.chroot, example.chroot) << example.url;
  }
}

TEST(ZookeeperUrlTest, ParametersAreUnderstood) {
  const auto parsed = parse_zookeeper_url(
      "zookeeper://app:secret@h?prefix=%2Flocks%2Fmine&layout=kazoo&timeout=250ms&acl=creator");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->prefix, "/locks/mine");
  EXPECT_EQ(parsed->layout, Layout::kazoo);
  EXPECT_EQ(parsed->timeout, 250ms);
  EXPECT_EQ(parsed->target.connect_timeout, 250ms);
  EXPECT_EQ(parsed->target.acl, Acl::creator);
}

TEST(ZookeeperUrlTest, DefaultsAreThoseOfTheDocumentation) {
  const auto parsed = parse_zookeeper_url("zookeeper://h");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->prefix, "/hf");
  EXPECT_EQ(parsed->layout, Layout::curator);
  EXPECT_EQ(parsed->timeout, 5s);
  EXPECT_EQ(parsed->target.acl, Acl::open);
  EXPECT_EQ(parse_zookeeper_url("zookeeper://h?prefix=")->prefix, "");
  EXPECT_EQ(parse_zookeeper_url("zookeeper://h?prefix=locks/")->prefix, "/locks");
}

TEST(ZookeeperUrlTest, WhatIsWrongIsNamed) {
  const std::pair<const char*, const char*> examples[] = {
      {"redis://h", "does not begin with zookeeper://"},
      {"zookeeper:h", "does not begin with zookeeper://"},
      {"zookeeper://", "names no host"},
      {"zookeeper://a,,b", "names no host"},
      {"zookeeper://h:0", "port"},
      {"zookeeper://[::1", "bracket that is not closed"},
      {"zookeeper://h/a//b", "after the servers"},
      {"zookeeper://h/a/../b", "after the servers"},
      {"zookeeper://h/%zz", "after the servers"},
      {"zookeeper://h?colour=red", "no parameter 'colour'"},
      {"zookeeper://h?prefix", "the parameter prefix has no well-formed value"},
      {"zookeeper://h?prefix=a//b", "prefix"},
      {"zookeeper://h?layout=other", "layout"},
      {"zookeeper://h?timeout=0s", "timeout"},
      {"zookeeper://h?acl=none", "acl"},
      {"zookeeper://h?acl=creator", "acl=creator and no user"},
      {"zookeeper://:secret@h", "a password and no user"},
      {"zookeeper://a%3Ab:secret@h", "colon"},
      {"zookeeper://app@h", "there is no password"},
      {"zookeeper://h?password_file=/x", "a password_file and no user"},
      {"zookeeper://app:secret@h?password_file=/x", "both a password and a password_file"},
  };
  unsetenv("HOLDFAST_ZOOKEEPER_PASSWORD");
  for (const auto& [url, what] : examples) {
    const Error error = error_of(url);
    EXPECT_EQ(error.code, Errc::invalid_argument) << url;
    EXPECT_NE(error.message.find(what), std::string::npos) << url << ": " << error.message;
    EXPECT_EQ(error.message.find("secret"), std::string::npos) << error.message;
    EXPECT_EQ(error.remedy_text.find("secret"), std::string::npos) << error.remedy_text;
  }
}

TEST(ZookeeperUrlTest, WhatTheClientLibraryCannotDoIsRefusedWithTheReason) {
  for (const char* url :
       {"zookeepers://h", "zookeeper://h?ca=/ca", "zookeeper://h?sasl=kerberos"}) {
    const Error error = error_of(url);
    EXPECT_EQ(error.code, Errc::unsupported) << url;
    EXPECT_NE(error.message.find("client library"), std::string::npos) << error.message;
  }
}

TEST(ZookeeperUrlTest, ThePasswordComesFromAFileOrTheEnvironment) {
  const std::string file =
      std::filesystem::temp_directory_path() / ("zookeeper_url_test." + std::to_string(getpid()));
  std::ofstream{file} << "from file\r\nmore\n";
  const std::string url = "zookeeper://app@h?password_file=" + file;
  EXPECT_EQ(parse_zookeeper_url(url)->target.password, "from file");
  std::filesystem::remove(file);
  const Error missing = error_of(url);
  EXPECT_EQ(missing.code, Errc::io_error);
  EXPECT_NE(missing.message.find(file), std::string::npos);

  setenv("HOLDFAST_ZOOKEEPER_PASSWORD", "from environment", 1);
  EXPECT_EQ(parse_zookeeper_url("zookeeper://app@h")->target.password, "from environment");
  EXPECT_EQ(parse_zookeeper_url("zookeeper://app:given@h")->target.password, "given");
  EXPECT_EQ(parse_zookeeper_url("zookeeper://h")->target.password, "");
  unsetenv("HOLDFAST_ZOOKEEPER_PASSWORD");
}

TEST(ZookeeperUrlTest, KnowsItsSchemes) {
  EXPECT_TRUE(is_zookeeper_url("zookeeper://h"));
  EXPECT_TRUE(is_zookeeper_url("ZOOKEEPERS://h"));
  EXPECT_FALSE(is_zookeeper_url("zookeeperx://h"));
  EXPECT_FALSE(is_zookeeper_url("local:zookeeper"));
}

}  // namespace
}  // namespace holdfast::zookeeper
