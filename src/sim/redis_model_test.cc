#include "sim/redis_model.h"

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

TEST_F(RedisModelTest, RefusesInRedisWords) {
  model_.plant_foreign_type("list");
  EXPECT_TRUE(run({"GET", "list"}).text.starts_with("WRONGTYPE"));
  EXPECT_TRUE(run({"HGETALL", "k"}).text.starts_with("ERR Unknown Redis command"));
  EXPECT_TRUE(run({"GET"}).text.starts_with("ERR wrong number of arguments"));
  EXPECT_EQ(run({"SET", "k", "v", "PX"}).text, "ERR syntax error");
  EXPECT_EQ(run({"SET", "k", "v", "KEEPTTL"}).text, "ERR syntax error");
  EXPECT_TRUE(run({"SET", "k", "v", "PX", "0"}).text.starts_with("ERR invalid expire time"));
  EXPECT_TRUE(run({"SET", "k", "v", "PX", "1.5"}).text.starts_with("ERR value is not an integer"));
  EXPECT_TRUE(run({"PEXPIRE", "k", "x"}).text.starts_with("ERR value is not an integer"));
}

TEST_F(RedisModelTest, ForgetsEverything) {
  run({"SET", "k", "v"});
  model_.forget_everything();
  EXPECT_EQ(run({"GET", "k"}), kNil);
}

}  // namespace
}  // namespace holdfast::sim
