#include "engines/redlock/change_bell.h"

#include <gtest/gtest.h>

#include <map>

namespace holdfast::redlock {
namespace {

/// A node that hands on what is published at it, when it is told to.
class FakeNode final : public redis::RedisPort {
 public:
  void send(redis::SharedCall call, TimePoint, redis::OnAnswer) override {
    published.push_back(call->args);
  }
  void subscribe(std::string channel, redis::OnHeard on_heard) override {
    ears.emplace(std::move(channel), std::move(on_heard));
  }
  void unsubscribe(const std::string& channel) override { ears.erase(channel); }

  void say(const std::string& channel, const redis::Heard& heard) const {
    for (const auto& [heard_at, on_heard] : ears) {
      if (heard_at == channel) on_heard(heard);
    }
  }
  void say(const std::string& text) const {
    say("changes", {.kind = redis::Heard::Kind::message, .text = text});
  }
  void begin_to_listen() const { say("changes", {}); }

  std::vector<std::vector<std::string>> published;
  std::multimap<std::string, redis::OnHeard> ears;
};

class RedlockChangeBellTest : public testing::Test {
 protected:
  std::vector<std::shared_ptr<FakeNode>> nodes_{
      std::make_shared<FakeNode>(), std::make_shared<FakeNode>(), std::make_shared<FakeNode>()};
  std::shared_ptr<ChangeBell> bell_{
      std::make_shared<ChangeBell>(Nodes{nodes_.begin(), nodes_.end()}, "changes")};
  const LockName name_{"billing"};
  int told_{0};
};

TEST_F(RedlockChangeBellTest, RingsAtEveryNode) {
  bell_->ring(name_, TimePoint::max());
  for (const auto& node : nodes_) {
    ASSERT_EQ(node->published.size(), 1U);
    EXPECT_EQ(node->published.front(), (std::vector<std::string>{"changes", "billing"}));
  }
}

TEST_F(RedlockChangeBellTest, TheFirstNodeThatSpeaksIsEnough) {
  const auto ear = bell_->listen(name_, [this] { ++told_; });
  nodes_[2]->say("billing");
  EXPECT_EQ(told_, 1);
}

TEST_F(RedlockChangeBellTest, OtherLocksAreNotHeard) {
  const auto ear = bell_->listen(name_, [this] { ++told_; });
  nodes_[0]->say("shipping");
  EXPECT_EQ(told_, 0);
}

TEST_F(RedlockChangeBellTest, ANodeThatBeginsToListenMayHaveMissedSomething) {
  const auto ear = bell_->listen(name_, [this] { ++told_; });
  nodes_[1]->begin_to_listen();
  EXPECT_EQ(told_, 1);
}

TEST_F(RedlockChangeBellTest, ThoseWhoListenShareOneSubscriptionPerNode) {
  const auto first = bell_->listen(name_, [this] { ++told_; });
  const auto second = bell_->listen(name_, [this] { ++told_; });
  for (const auto& node : nodes_) EXPECT_EQ(node->ears.size(), 1U);
  nodes_[0]->say("billing");
  EXPECT_EQ(told_, 2);
}

TEST_F(RedlockChangeBellTest, NobodyListensAfterItsEnd) {
  auto ear = bell_->listen(name_, [this] { ++told_; });
  ear.reset();
  nodes_[0]->say("billing");
  EXPECT_EQ(told_, 0);
  bell_.reset();
  for (const auto& node : nodes_) EXPECT_TRUE(node->ears.empty());
}

TEST_F(RedlockChangeBellTest, NothingIsSubscribedToBeforeSomebodyListens) {
  for (const auto& node : nodes_) EXPECT_TRUE(node->ears.empty());
}

}  // namespace
}  // namespace holdfast::redlock
