#include "engines/etcd/key_watches.h"

#include <gtest/gtest.h>

#include "sim/etcd/etcd_bed.h"

namespace holdfast::etcd {
namespace {

using namespace std::chrono_literals;

class KeyWatchesTest : public testing::Test {
 protected:
  Revision put(const std::string& key) {
    Txn txn;
    txn.then.push_back(Put{.key = key});
    return bed_.commit(other_, std::move(txn))->header.revision;
  }
  void erase(const std::string& key) {
    Txn txn;
    txn.then.push_back(Erase{.keys = {key}});
    ASSERT_TRUE(bed_.commit(other_, std::move(txn)));
  }
  KeyWatches::Listening listen(Revision since) {
    return watches_->listen({.key = "a"}, since, Interest::others, [this](const KeyNews& news) {
      told_.push_back(news.erased == nullptr ? "look" : *news.erased);
    });
  }

  sim::EtcdBed bed_;
  sim::EtcdBed::Process& other_ = bed_.start();
  sim::EtcdBed::Process& self_ = bed_.start();
  std::shared_ptr<KeyWatches> watches_ =
      std::make_shared<KeyWatches>(self_.env, self_.port, Millis{3'600'000});
  std::vector<std::string> told_;
};

TEST_F(KeyWatchesTest, AnErasureIsTold) {
  const auto listening = listen(put("a"));
  bed_.scheduler.advance(1s);
  EXPECT_TRUE(told_.empty());
  erase("a");
  bed_.scheduler.advance(1s);
  EXPECT_EQ(told_, std::vector<std::string>{"a"});
}

TEST_F(KeyWatchesTest, WhatWasErasedBeforeTheWatchBeganIsNoticed) {
  const Revision since = put("a");
  erase("a");
  const auto listening = listen(since);
  bed_.scheduler.advance(1s);
  EXPECT_EQ(told_, std::vector<std::string>{"look"});
}

// A cluster in which others are busy.
TEST_F(KeyWatchesTest, WhatHappenedToOthersMeanwhileDisturbsNobody) {
  const Revision since = put("a");
  put("b");
  const auto listening = listen(since);
  bed_.scheduler.advance(1s);
  EXPECT_TRUE(told_.empty());
  erase("a");
  bed_.scheduler.advance(1s);
  EXPECT_EQ(told_, std::vector<std::string>{"a"});
}

TEST_F(KeyWatchesTest, WhoJoinsAWatchThatBeganLaterThanItKnowsLooks) {
  const Revision since = put("a");
  put("b");
  const auto first = listen(since + 1);
  bed_.scheduler.advance(1s);
  ASSERT_TRUE(told_.empty());
  put("b");
  const auto second = listen(since - 1);
  bed_.scheduler.advance(1s);
  EXPECT_TRUE(told_.empty()) << "the key is there";
  erase("a");
  bed_.scheduler.advance(1s);
  EXPECT_EQ(told_, (std::vector<std::string>{"a", "a"}));
}

}  // namespace
}  // namespace holdfast::etcd
