#include "engines/redis/driver/redirection.h"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

using Kind = Redirection::Kind;

Redirection read(std::string text) { return read_redirection(Reply::of_error(std::move(text))); }

TEST(RedirectionTest, MovedAndAskNameTheSlotAndTheServer) {
  const Redirection moved = read("MOVED 3999 127.0.0.1:6381");
  EXPECT_EQ(moved.kind, Kind::moved);
  EXPECT_EQ(moved.slot, 3999);
  EXPECT_EQ(moved.to, (Address{"127.0.0.1", 6381}));
  const Redirection ask = read("ASK 16383 db.example:1");
  EXPECT_EQ(ask.kind, Kind::ask);
  EXPECT_EQ(ask.to, (Address{"db.example", 1}));
}

TEST(RedirectionTest, AddressesMayBeIPv6OrHaveNoHost) {
  EXPECT_EQ(read("MOVED 1 fe80::1:6379").to, (Address{"fe80::1", 6379}));
  EXPECT_EQ(read("MOVED 1 :6379").to, (Address{"", 6379}));
}

// The driver names the server at the end of what it said.
TEST(RedirectionTest, WhatFollowsTheAddressIsNotPartOfIt) {
  EXPECT_EQ(read("MOVED 1 h:6379 (at 127.0.0.1:7000)").to, (Address{"h", 6379}));
}

TEST(RedirectionTest, OthersSayLaterOrReplaced) {
  for (const char* const text :
       {"TRYAGAIN Multiple keys request during rehashing of slot",
        "CLUSTERDOWN The cluster is down",
        "LOADING Redis is loading the dataset in memory",
        "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."}) {
    EXPECT_EQ(read(text).kind, Kind::later) << text;
  }
  EXPECT_EQ(read("READONLY You can't write against a read only replica.").kind, Kind::replaced);
}

TEST(RedirectionTest, EverythingElseIsAnAnswer) {
  for (const char* const text : {"",
                                 "ERR wrong",
                                 "MOVED",
                                 "MOVED 1",
                                 "MOVED x h:1",
                                 "MOVED 16384 h:1",
                                 "MOVED 1 h",
                                 "MOVED 1 h:0",
                                 "MOVED 1 h:65536",
                                 "ASKED 1 h:1"}) {
    EXPECT_EQ(read(text).kind, Kind::none) << text;
  }
  EXPECT_EQ(read_redirection(Reply::of_text("MOVED 1 h:1")).kind, Kind::none);
}

}  // namespace
}  // namespace holdfast::redis
