// The commands that scripts use, as foreign clients send them too.

#include "tests/ports/redis_bed.h"

namespace holdfast::ports {
namespace {

class CommandsTest : public RedisPortTest {
 protected:
  std::string error(const std::vector<std::string>& words) {
    const Reply reply = command(words);
    EXPECT_EQ(reply.kind, Reply::Kind::error) << testing::PrintToString(words);
    return reply.text;
  }
};

TEST_P(CommandsTest, SetNxLeavesAnExistingKeyAlone) {
  EXPECT_EQ(command({"SET", "k", "v", "NX", "PX", "60000"}), kOk);
  EXPECT_EQ(command({"SET", "k", "w", "NX", "PX", "900000"}), kNil);
  EXPECT_EQ(command({"GET", "k"}), Reply::of_text("v"));
  EXPECT_LE(ttl_ms("k"), 60'000);
}

TEST_P(CommandsTest, PlainSetRemovesTheTtlAndAnyOtherType) {
  command({"SET", "k", "v", "PX", "60000"});
  EXPECT_EQ(command({"SET", "k", "v"}), kOk);
  EXPECT_EQ(ttl_ms("k"), -1);
  bed_->plant_list("k");
  EXPECT_EQ(command({"SET", "k", "w"}), kOk);
  EXPECT_EQ(command({"GET", "k"}), Reply::of_text("w"));
}

TEST_P(CommandsTest, PexpireExtendsShortensRemovesAndNeverCreates) {
  EXPECT_EQ(command({"PEXPIRE", "k", "1000"}), Reply::of_integer(0));
  EXPECT_EQ(ttl_ms("k"), -2);
  command({"SET", "k", "v"});
  EXPECT_EQ(command({"PEXPIRE", "k", "60000"}), Reply::of_integer(1));
  EXPECT_LE(ttl_ms("k"), 60'000);
  EXPECT_GT(ttl_ms("k"), 30'000);
  EXPECT_EQ(command({"PEXPIRE", "k", "20"}), Reply::of_integer(1));
  EXPECT_TRUE(forgotten("k"));
  for (const char* ttl : {"0", "-1", "-9223372036854775808"}) {
    command({"SET", "k", "v"});
    EXPECT_EQ(command({"PEXPIRE", "k", ttl}), Reply::of_integer(1)) << ttl;
    EXPECT_EQ(command({"EXISTS", "k"}), Reply::of_integer(0)) << ttl;
  }
}

TEST_P(CommandsTest, IncrCountsAndKeepsTheTtl) {
  EXPECT_EQ(command({"INCR", "n"}), Reply::of_integer(1));
  command({"SET", "n", "-1", "PX", "60000"});
  EXPECT_EQ(command({"INCR", "n"}), Reply::of_integer(0));
  EXPECT_GT(ttl_ms("n"), 0);
  command({"SET", "n", "9223372036854775807"});
  EXPECT_EQ(error({"INCR", "n"}), "ERR increment or decrement would overflow");
}

TEST_P(CommandsTest, DelAndExistsCount) {
  command({"SET", "a", "1"});
  bed_->plant_list("b");
  EXPECT_EQ(command({"EXISTS", "a", "b", "c", "a"}), Reply::of_integer(3));
  EXPECT_EQ(command({"DEL", "a", "b", "c", "a"}), Reply::of_integer(2));
}

TEST_P(CommandsTest, PublishReachesThoseWhoListen) {
  static constexpr redis::Script kPublish{"publish",
                                          "return redis.call('PUBLISH', KEYS[1], ARGV[1])"};
  EXPECT_EQ(eval(kPublish, {"channel"}, {"nobody"}), Reply::of_integer(0));
  const auto first = bed_->listen("channel");
  auto second = bed_->listen("channel");
  const auto other = bed_->listen("other");
  EXPECT_EQ(eval(kPublish, {"channel"}, {"hello"}), Reply::of_integer(2));
  EXPECT_EQ(command({"PUBLISH", "other", "there"}), Reply::of_integer(1));
  EXPECT_EQ(first->next(), "hello");
  EXPECT_EQ(second->next(), "hello");
  EXPECT_EQ(other->next(), "there");
}

TEST_P(CommandsTest, RefusesInTheSameWords) {
  const std::string kNotInteger = "ERR value is not an integer or out of range";
  const std::string kWrongType =
      "WRONGTYPE Operation against a key holding the wrong kind of value";
  bed_->plant_list("list");
  EXPECT_EQ(error({"GET", "list"}), kWrongType);
  EXPECT_EQ(error({"INCR", "list"}), kWrongType);
  EXPECT_EQ(error({"GET"}), "ERR wrong number of arguments for 'get' command");
  EXPECT_EQ(error({"nosuch", "a", "b"}),
            "ERR unknown command 'nosuch', with args beginning with: 'a' 'b' ");
  EXPECT_EQ(error({"SET", "k", "v", "PX"}), "ERR syntax error");
  EXPECT_EQ(error({"SET", "k", "v", "EVER"}), "ERR syntax error");
  for (const char* ttl : {"0", "-1", "9223372036854775807"}) {
    EXPECT_EQ(error({"SET", "k", "v", "PX", ttl}), "ERR invalid expire time in 'set' command");
  }
  for (const char* ttl : {"1.5", "x", "", "+1", "01", " 1", "-0", "1e3", "9223372036854775808"}) {
    EXPECT_EQ(error({"SET", "k", "v", "PX", ttl}), kNotInteger) << ttl;
    EXPECT_EQ(error({"PEXPIRE", "list", ttl}), kNotInteger) << ttl;
    command({"SET", "n", ttl});
    EXPECT_EQ(error({"INCR", "n"}), kNotInteger) << ttl;
  }
  EXPECT_EQ(error({"PEXPIRE", "k", "9223372036854775807"}),
            "ERR invalid expire time in 'pexpire' command");
}

HOLDFAST_ON_BOTH_BEDS(CommandsTest);

}  // namespace
}  // namespace holdfast::ports
