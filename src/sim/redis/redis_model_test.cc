#include "sim/redis/redis_model.h"

#include <gtest/gtest.h>

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;
using redis::Reply;

class RedisModelTest : public testing::Test {
 protected:
  Reply run(const std::vector<std::string>& words) { return model_.command(words, now_); }

  RedisModel model_;
  WallTime now_{1'770'000'000'123'456};
  const Reply kNil;
  const Reply kOk = Reply::of_text("OK");
};

TEST_F(RedisModelTest, SetsAndGetsStrings) {
  EXPECT_EQ(run({"GET", "k"}), kNil);
  EXPECT_EQ(run({"SET", "k", "v"}), kOk);
  EXPECT_EQ(run({"GET", "k"}), Reply::of_text("v"));
  EXPECT_EQ(run({"PTTL", "k"}), Reply::of_integer(-1));
}

TEST_F(RedisModelTest, AScriptUsesTheKeysThatItDeclares) {
  const redis::Script copies{"copies", "redis.call('SET', KEYS[2], redis.call('GET', KEYS[1]))"};
  const redis::Script makes_up{"makes_up", "return redis.call('EXISTS', KEYS[1], KEYS[1] .. 'x')"};
  run({"SET", "k", "v"});
  model_.eval({.script = &copies, .keys = {"k", "l"}, .args = {}}, now_);
  EXPECT_EQ(run({"GET", "l"}), Reply::of_text("v"));
  const Reply refused = model_.eval({.script = &makes_up, .keys = {"k"}, .args = {}}, now_);
  EXPECT_NE(refused.text.find("did not declare"), std::string::npos) << refused.text;
}

TEST_F(RedisModelTest, SetNxLeavesAnExistingKeyAlone) {
  EXPECT_EQ(run({"SET", "k", "v", "NX", "PX", "1000"}), kOk);
  EXPECT_EQ(run({"SET", "k", "w", "NX", "PX", "9000"}), kNil);
  EXPECT_EQ(run({"GET", "k"}), Reply::of_text("v"));
  EXPECT_EQ(run({"PTTL", "k"}), Reply::of_integer(1000));
}

TEST_F(RedisModelTest, KeysEndAfterTheirTtlAndNotBefore) {
  run({"SET", "k", "v", "PX", "1000"});
  now_ += 1000ms;
  EXPECT_EQ(run({"GET", "k"}), Reply::of_text("v"));
  now_ += 1ms;
  EXPECT_EQ(run({"GET", "k"}), kNil);
  EXPECT_EQ(run({"PTTL", "k"}), Reply::of_integer(-2));
  EXPECT_EQ(run({"SET", "k", "w", "NX"}), kOk);
}

TEST_F(RedisModelTest, PlainSetRemovesTheTtl) {
  run({"SET", "k", "v", "PX", "1000"});
  run({"SET", "k", "v"});
  EXPECT_EQ(run({"PTTL", "k"}), Reply::of_integer(-1));
}

TEST_F(RedisModelTest, PexpireExtendsButNeverCreates) {
  EXPECT_EQ(run({"PEXPIRE", "k", "1000"}), Reply::of_integer(0));
  run({"SET", "k", "v", "PX", "10"});
  EXPECT_EQ(run({"PEXPIRE", "k", "1000"}), Reply::of_integer(1));
  now_ += 500ms;
  EXPECT_EQ(run({"PTTL", "k"}), Reply::of_integer(500));
  EXPECT_EQ(run({"PEXPIRE", "k", "0"}), Reply::of_integer(1));
  EXPECT_EQ(run({"GET", "k"}), kNil);
}

TEST_F(RedisModelTest, DelCountsWhatItRemoved) {
  run({"SET", "a", "1"});
  run({"SET", "b", "1"});
  EXPECT_EQ(run({"DEL", "a", "b", "c"}), Reply::of_integer(2));
  EXPECT_EQ(run({"GET", "a"}), kNil);
}

TEST_F(RedisModelTest, TimeIsSecondsAndMicroseconds) {
  EXPECT_EQ(run({"TIME"}),
            Reply::of_array({Reply::of_text("1770000000"), Reply::of_text("123456")}));
}

TEST_F(RedisModelTest, CountsUpAndKeepsTheTtl) {
  EXPECT_EQ(run({"INCR", "n"}), Reply::of_integer(1));
  run({"SET", "n", "41", "PX", "1000"});
  EXPECT_EQ(run({"INCR", "n"}), Reply::of_integer(42));
  EXPECT_EQ(run({"PTTL", "n"}), Reply::of_integer(1000));
  run({"SET", "n", "9223372036854775807"});
  EXPECT_EQ(run({"INCR", "n"}).text, "ERR increment or decrement would overflow");
  run({"SET", "n", "01"});
  EXPECT_EQ(run({"INCR", "n"}).text, "ERR value is not an integer or out of range");
}

TEST_F(RedisModelTest, ExistsCountsEachMention) {
  run({"SET", "a", "1"});
  EXPECT_EQ(run({"EXISTS", "a", "b", "a"}), Reply::of_integer(2));
}

TEST_F(RedisModelTest, PublishReachesThoseWhoListen) {
  std::vector<std::string> heard;
  const auto listen = [this, &heard](std::string channel, std::string who) {
    return model_.channels().subscribe(
        std::move(channel), [&heard, who](std::string_view from, std::string_view message) {
          heard.push_back(who + ": " + std::string{from} + ' ' + std::string{message});
        });
  };
  EXPECT_EQ(run({"PUBLISH", "c", "nobody"}), Reply::of_integer(0));
  const auto first = listen("c", "first");
  listen("c", "second");
  listen("d", "third");
  EXPECT_EQ(run({"PUBLISH", "c", "one"}), Reply::of_integer(2));
  model_.channels().unsubscribe(first);
  EXPECT_EQ(run({"PUBLISH", "c", "two"}), Reply::of_integer(1));
  EXPECT_EQ(heard, (std::vector<std::string>{"first: c one", "second: c one", "second: c two"}));
}

TEST_F(RedisModelTest, RefusesInRedisWords) {
  model_.plant_foreign_type("list");
  EXPECT_EQ(run({"GET", "list"}).text,
            "WRONGTYPE Operation against a key holding the wrong kind of value");
  EXPECT_EQ(run({"INCR", "list"}).text,
            "WRONGTYPE Operation against a key holding the wrong kind of value");
  EXPECT_EQ(run({"nosuch", "a", "b"}).text,
            "ERR unknown command 'nosuch', with args beginning with: 'a' 'b' ");
  EXPECT_EQ(run({"GET"}).text, "ERR wrong number of arguments for 'get' command");
  EXPECT_EQ(run({"GET", "k", "l"}).text, "ERR wrong number of arguments for 'get' command");
  EXPECT_EQ(run({"SET", "k", "v", "PX"}).text, "ERR syntax error");
  EXPECT_EQ(run({"SET", "k", "v", "EVER"}).text, "ERR syntax error");
  for (const char* ttl : {"0", "-1", "9223372036854775807"}) {
    EXPECT_EQ(run({"SET", "k", "v", "PX", ttl}).text, "ERR invalid expire time in 'set' command");
  }
  for (const char* ttl : {"1.5", "x", "", "+1", "01", " 1", "-0"}) {
    EXPECT_EQ(run({"SET", "k", "v", "PX", ttl}).text,
              "ERR value is not an integer or out of range");
    EXPECT_EQ(run({"PEXPIRE", "k", ttl}).text, "ERR value is not an integer or out of range");
  }
  EXPECT_EQ(run({"PEXPIRE", "k", "9223372036854775807"}).text,
            "ERR invalid expire time in 'pexpire' command");
}

TEST_F(RedisModelTest, NamesAndOptionsAreInEitherCase) {
  EXPECT_EQ(run({"set", "k", "v", "nx", "Px", "1000"}), kOk);
  EXPECT_EQ(run({"pTTL", "k"}), Reply::of_integer(1000));
}

}  // namespace
}  // namespace holdfast::sim
