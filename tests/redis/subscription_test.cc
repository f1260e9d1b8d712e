// Subscriptions: what is heard, and that listening is told again after every interruption.

#include <gtest/gtest.h>

#include "tests/ports/redis_process.h"
#include "tests/redis/driver_bed.h"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using ports::RedisProcess;

class SubscriptionTest : public testing::Test {
 protected:
  void subscribe(const std::string& channel, Ear& ear) {
    bed_.on_env([&] { bed_.driver()->subscribe(channel, ear.on_heard()); });
  }
  void unsubscribe(const std::string& channel) {
    bed_.on_env([&] { bed_.driver()->unsubscribe(channel); });
  }
  /// To how many subscribers.
  std::int64_t publish(const std::string& channel, const std::string& text) {
    return get(bed_.command({"PUBLISH", channel, text})).value().integer;
  }

  RedisProcess server_;
  DriverBed bed_{{.socket_path = server_.socket()}, {.heartbeat = 50ms}};
};

TEST_F(SubscriptionTest, MessagesReachTheirChannels) {
  Ear a;
  Ear b;
  subscribe("a", a);
  subscribe("b", b);
  EXPECT_EQ(a.next(), "listening");
  EXPECT_EQ(b.next(), "listening");
  EXPECT_EQ(publish("a", "one"), 1);
  EXPECT_EQ(publish("b", "two"), 1);
  EXPECT_EQ(publish("a", std::string("\0\r\n", 3)), 1);
  EXPECT_EQ(a.next(), "message:one");
  EXPECT_EQ(b.next(), "message:two");
  EXPECT_EQ(a.next(), "message:" + std::string("\0\r\n", 3));
  EXPECT_EQ(bed_.stats().subscription_connections, 1U);
}

TEST_F(SubscriptionTest, AnUnsubscribedChannelIsNotHeard) {
  Ear gone;
  Ear stays;
  subscribe("gone", gone);
  subscribe("stays", stays);
  EXPECT_EQ(gone.next(), "listening");
  EXPECT_EQ(stays.next(), "listening");
  unsubscribe("gone");
  ASSERT_TRUE(eventually([&] { return publish("gone", "unheard") == 0; }));
  // Subscribed anew, its old callback hears nothing more.
  Ear again;
  subscribe("gone", again);
  EXPECT_EQ(again.next(), "listening");
  EXPECT_EQ(publish("gone", "heard"), 1);
  EXPECT_EQ(again.next(), "message:heard");
}

// Only the last of several subscriptions to a channel tells that it is heard.
TEST_F(SubscriptionTest, ListeningIsToldOfTheLastSubscription) {
  Ear first;
  Ear second;
  bed_.on_env([&] {
    bed_.driver()->subscribe("c", first.on_heard());
    bed_.driver()->unsubscribe("c");
    bed_.driver()->subscribe("c", second.on_heard());
  });
  EXPECT_EQ(second.next(), "listening");
  EXPECT_EQ(publish("c", "x"), 1);
  EXPECT_EQ(second.next(), "message:x");
}

TEST_F(SubscriptionTest, ACallbackMayUnsubscribeItself) {
  std::promise<std::string> heard;
  auto text = heard.get_future();
  bed_.on_env([&] {
    bed_.driver()->subscribe("c", [&](const Heard& what) {
      if (what.kind == Heard::Kind::listening) return;
      bed_.driver()->unsubscribe("c");
      heard.set_value(what.text);
    });
  });
  ASSERT_TRUE(eventually([&] { return publish("c", "x") == 1; }));
  EXPECT_EQ(get(std::move(text)), "x");
  ASSERT_TRUE(eventually([&] { return publish("c", "y") == 0; }));
}

TEST_F(SubscriptionTest, ListeningIsToldAgainAfterARestart) {
  Ear ear;
  subscribe("c", ear);
  EXPECT_EQ(ear.next(), "listening");
  for (int i = 0; i < 3; ++i) {
    server_.restart();
    EXPECT_EQ(ear.next(), "listening");
    Result<Reply> published = get(bed_.command({"PUBLISH", "c", "again"}));
    if (!published) published = get(bed_.command({"PUBLISH", "c", "again"}));
    EXPECT_EQ(published.value(), Reply::of_integer(1));
    EXPECT_EQ(ear.next(), "message:again");
  }
}

TEST_F(SubscriptionTest, AHungServerIsNoticedByTheHeartbeat) {
  Ear ear;
  subscribe("c", ear);
  EXPECT_EQ(ear.next(), "listening");
  server_.pause();
  // Nothing else tells: the old connection stays open, and a new one is not answered.
  ASSERT_TRUE(eventually([&] { return bed_.stats().subscription_interruptions == 1; }));
  server_.resume();
  EXPECT_EQ(ear.next(), "listening");
  EXPECT_EQ(bed_.stats().subscription_connections, 2U);
}

TEST(SubscriptionAclTest, ARefusedChannelDoesNotDisturbTheOthers) {
  RedisProcess server{{"--user", "app", "on", ">secret", "~*", "+@all", "resetchannels", "&good"}};
  DriverBed bed{{.socket_path = server.socket(), .user = "app", .password = "secret"}};
  Ear bad;
  Ear good;
  bed.on_env([&] {
    bed.driver()->subscribe("bad", bad.on_heard());
    bed.driver()->subscribe("good", good.on_heard());
  });
  EXPECT_EQ(good.next(), "listening");
  EXPECT_EQ(get(bed.command({"PUBLISH", "good", "x"})).value(), Reply::of_integer(1));
  EXPECT_EQ(good.next(), "message:x");
}

}  // namespace
}  // namespace holdfast::redis
