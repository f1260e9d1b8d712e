#include "engines/zookeeper/driver/failure.h"

#include <gtest/gtest.h>
#include <zookeeper/zookeeper.h>

namespace holdfast::zookeeper {
namespace {

TEST(ZookeeperFailureTest, AnswersAreNoFailures) {
  EXPECT_EQ(verdict_of(ZOK), Verdict::done);
  EXPECT_EQ(verdict_of(ZNONODE), Verdict::no_node);
  EXPECT_EQ(verdict_of(ZNODEEXISTS), Verdict::node_exists);
  EXPECT_EQ(verdict_of(ZBADVERSION), Verdict::bad_version);
  EXPECT_EQ(verdict_of(ZNOTEMPTY), Verdict::not_empty);
  EXPECT_EQ(verdict_of(ZNOCHILDRENFOREPHEMERALS), Verdict::no_children_allowed);
  EXPECT_EQ(verdict_of(ZCONNECTIONLOSS), std::nullopt);
}

TEST(ZookeeperFailureTest, WhatABrokenConnectionLeavesIsNotKnown) {
  for (const int code : {ZCONNECTIONLOSS, ZOPERATIONTIMEOUT, ZRUNTIMEINCONSISTENCY}) {
    EXPECT_EQ(failure_of("h:1", code, "/a").code, Errc::unknown_outcome) << code;
  }
}

TEST(ZookeeperFailureTest, ALargeRequestMayBeWhatBrokeTheConnection) {
  Error broken = failure_of("h:1", ZCONNECTIONLOSS, "/a");
  explain_size(broken, 1000);
  EXPECT_EQ(broken.message.find("jute.maxbuffer"), std::string::npos) << broken.message;
  explain_size(broken, 200'000);
  EXPECT_NE(broken.message.find("200000 bytes"), std::string::npos) << broken.message;
  EXPECT_NE(broken.message.find("jute.maxbuffer"), std::string::npos) << broken.message;
  Error denied = failure_of("h:1", ZNOAUTH, "/a");
  explain_size(denied, 200'000);
  EXPECT_EQ(denied.message.find("jute.maxbuffer"), std::string::npos) << denied.message;
}

TEST(ZookeeperFailureTest, RefusalsNameServerAndPath) {
  const Error denied = failure_of("h:1", ZNOAUTH, "/secret");
  EXPECT_EQ(denied.code, Errc::denied);
  EXPECT_NE(denied.message.find("h:1"), std::string::npos);
  EXPECT_NE(denied.message.find("/secret"), std::string::npos);
  EXPECT_EQ(failure_of("h:1", ZSESSIONEXPIRED, "/a").code, Errc::lost);
  EXPECT_EQ(failure_of("h:1", ZSESSIONMOVED, "/a").code, Errc::unavailable);
  EXPECT_EQ(failure_of("h:1", ZINVALIDCALLBACK, "/a").code, Errc::internal);
}

TEST(ZookeeperFailureTest, TheLogTellsServerAndCause) {
  const char* const refused =
      "2026-11-16 12:00:00,000:1(0x2):ZOO_ERROR@f@1: Socket 127.0.0.1:1 zk retcode=-4, "
      "errno=111(Connection refused): server refused to accept the client";
  EXPECT_EQ(cause_in(refused), "Connection refused");
  EXPECT_EQ(server_in(refused), "127.0.0.1:1");
  EXPECT_EQ(cause_in("Socket h:1 zk retcode=-4, errno=112(Host is down): x"),
            "it closed the connection");
  EXPECT_EQ(cause_in("Socket h:1 zk retcode=-4, errno=32(Broken pipe): x"),
            "it closed the connection");
  EXPECT_EQ(cause_in("session establishment complete"), "");
  EXPECT_EQ(server_in("session establishment complete"), "");
}

TEST(ZookeeperFailureTest, ServersThatAreNotZookeeperAreKnownByTheirFirstBytes) {
  using namespace std::string_view_literals;
  EXPECT_TRUE(begins_as_zookeeper("\0\0\0\x25\0\0\0\0\0\0\x27\x10"sv));
  EXPECT_TRUE(begins_as_zookeeper("\0\0\0\x24\0\0\0\0"sv));
  EXPECT_TRUE(begins_as_zookeeper("\0\0\0"sv));
  EXPECT_FALSE(begins_as_zookeeper("HTTP/1.1 400"sv));
  EXPECT_FALSE(begins_as_zookeeper("-"sv));
  EXPECT_FALSE(begins_as_zookeeper("\0\0\0\x25\0\0\0\x01"sv));
}

}  // namespace
}  // namespace holdfast::zookeeper
