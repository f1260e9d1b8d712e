#include "engines/zookeeper/validity.h"

#include <gtest/gtest.h>

#include "core/validity.h"

namespace holdfast::zookeeper {
namespace {

using namespace std::chrono_literals;

constexpr Millis kTtl = 12s;

constexpr TimePoint at(Duration time) { return TimePoint{1h} + time; }

TEST(ZookeeperValidityTest, AConnectionCountsFromWhenItWasAskedFor) {
  Validity validity{at(0s), kTtl};
  EXPECT_EQ(validity.valid_until(), core::deadline_of(at(0s), kTtl));
  validity.disconnected();
  EXPECT_EQ(validity.counts_from(), at(0s));
  validity.connected(at(5s));
  EXPECT_EQ(validity.counts_from(), at(0s)) << "its server's leader may lead no more";
  EXPECT_TRUE(validity.unconfirmed());
  validity.acknowledged(at(6s), at(6100ms));
  EXPECT_EQ(validity.counts_from(), at(5s));
  EXPECT_EQ(validity.confirmed_at(), at(6s));
  EXPECT_FALSE(validity.unconfirmed());
}

TEST(ZookeeperValidityTest, AConnectionThatWentUnconfirmedShowsNothing) {
  Validity validity{at(0s), kTtl};
  validity.connected(at(3s));
  validity.disconnected();
  validity.connected(at(5s));
  validity.disconnected();
  validity.acknowledged(at(6s), at(6100ms));
  EXPECT_EQ(validity.counts_from(), at(0s));
}

TEST(ZookeeperValidityTest, AHeartbeatAloneShowsNothing) {
  Validity validity{at(0s), kTtl};
  validity.acknowledged(at(4s), at(4100ms));
  EXPECT_EQ(validity.counts_from(), at(0s));
  EXPECT_EQ(validity.confirmed_at(), at(4s)) << "the next is due a third of the TTL later";
}

TEST(ZookeeperValidityTest, TheHeartbeatBeforeTheLastCounts) {
  Validity validity{at(0s), kTtl};
  validity.acknowledged(at(4s), at(4100ms));
  validity.acknowledged(at(8s), at(8100ms));
  EXPECT_EQ(validity.counts_from(), at(4s));
  validity.acknowledged(at(12s), at(12100ms));
  EXPECT_EQ(validity.counts_from(), at(8s));
}

TEST(ZookeeperValidityTest, HeartbeatsThatFollowTooSoonShowNothing) {
  Validity validity{at(0s), kTtl};
  validity.acknowledged(at(4s), at(4100ms));
  EXPECT_GT(validity.worth_at(), at(7100ms));
  EXPECT_LT(validity.worth_at(), at(7101ms));
  for (int i = 1; i <= 3; ++i) validity.acknowledged(at(4s + i * 500ms), at(4s + i * 500ms));
  EXPECT_EQ(validity.counts_from(), at(0s)) << "the leader may not have pinged in between";
  validity.acknowledged(at(8s), at(8100ms));
  EXPECT_EQ(validity.counts_from(), at(4500ms)) << "the last answered long enough before";
}

TEST(ZookeeperValidityTest, WhatWasAnsweredSlowlyHadLittleTimeToReachTheLeader) {
  Validity validity{at(0s), kTtl};
  validity.acknowledged(at(4s), at(6s));
  validity.acknowledged(at(8s), at(8100ms));
  EXPECT_EQ(validity.counts_from(), at(0s));
}

TEST(ZookeeperValidityTest, HeartbeatsOfAnEarlierConnectionShowNothing) {
  Validity validity{at(0s), kTtl};
  validity.acknowledged(at(4s), at(4100ms));
  validity.disconnected();
  validity.connected(at(3s));
  validity.acknowledged(at(8s), at(8100ms));
  EXPECT_EQ(validity.counts_from(), at(3s));
}

TEST(ZookeeperValidityTest, ItNeverGoesBack) {
  Validity validity{at(10s), kTtl};
  validity.connected(at(5s));
  validity.acknowledged(at(11s), at(11100ms));
  EXPECT_EQ(validity.counts_from(), at(10s));
}

}  // namespace
}  // namespace holdfast::zookeeper
