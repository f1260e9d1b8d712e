#include "sim/lua_runner.h"

#include <gtest/gtest.h>

namespace holdfast::sim {
namespace {

using redis::Reply;
using redis::Script;

class LuaRunnerTest : public testing::Test {
 protected:
  Reply run(std::string_view source, std::vector<std::string> args = {}) {
    const Script script{"test", source};
    return lua_.run({.script = &script, .keys = {"key"}, .args = std::move(args)});
  }

  std::vector<std::vector<std::string>> called_;
  Reply answer_ = Reply::of_text("OK");
  LuaRunner lua_{[this](const std::vector<std::string>& words) {
    called_.push_back(words);
    return answer_;
  }};
};

TEST_F(LuaRunnerTest, ConvertsAnswersAsRedisDoes) {
  EXPECT_EQ(run("return 3.99"), Reply::of_integer(3));
  EXPECT_EQ(run("return 'a\\0b'"), Reply::of_text(std::string{"a\0b", 3}));
  EXPECT_EQ(run("return true"), Reply::of_integer(1));
  EXPECT_EQ(run("return false"), Reply{});
  EXPECT_EQ(run("return nil"), Reply{});
  EXPECT_EQ(run("return {1, 'x', nil, 2}"),
            Reply::of_array({Reply::of_integer(1), Reply::of_text("x")}));
  EXPECT_EQ(run("return redis.error_reply('BAD thing')"), Reply::of_error("BAD thing"));
}

TEST_F(LuaRunnerTest, GivesKeysAndArguments) {
  EXPECT_EQ(run("return KEYS[1] .. ARGV[1] .. #ARGV", {"x", "y"}), Reply::of_text("keyx2"));
  EXPECT_EQ(run("return #ARGV"), Reply::of_integer(0));
}

TEST_F(LuaRunnerTest, PassesLargeNumbersToCommandsExactly) {
  run("redis.call('SET', 'k', 9007199254740991)");
  EXPECT_EQ(called_.back().back(), "9007199254740991");
}

TEST_F(LuaRunnerTest, CommandsAnswerInLuaTerms) {
  answer_ = {};
  EXPECT_EQ(run("return redis.call('GET', 'k') == false"), Reply::of_integer(1));
  answer_ = Reply::of_array({Reply::of_text("12"), Reply::of_text("34")});
  EXPECT_EQ(run("local t = redis.call('TIME') return t[1] + t[2]"), Reply::of_integer(46));
}

TEST_F(LuaRunnerTest, AFailedCallEndsTheScriptAndAFailedPcallDoesNot) {
  answer_ = Reply::of_error("WRONGTYPE not a string");
  EXPECT_EQ(run("redis.call('GET', 'k') return 1"), Reply::of_error("WRONGTYPE not a string"));
  EXPECT_EQ(run("return redis.pcall('GET', 'k').err"), Reply::of_text("WRONGTYPE not a string"));
}

TEST_F(LuaRunnerTest, MistakesInScriptsAreErrors) {
  EXPECT_EQ(run("return return").kind, Reply::Kind::error);
  EXPECT_EQ(run("return nothing_like_it").kind, Reply::Kind::error);
  EXPECT_EQ(run("made_up = 1").kind, Reply::Kind::error);
  EXPECT_EQ(run("return os.time()").kind, Reply::Kind::error);
  EXPECT_EQ(run("redis.call({})").kind, Reply::Kind::error);
  EXPECT_EQ(run("return 1"), Reply::of_integer(1));
}

}  // namespace
}  // namespace holdfast::sim
