#include "sim/redis/lua_runner.h"

#include <gtest/gtest.h>

namespace holdfast::sim {
namespace {

using redis::Reply;
using redis::Script;

class LuaRunnerTest : public testing::Test, private Commands {
 protected:
  /// `source` is a literal: it lives for the whole program, as a script must.
  Reply run(std::string_view source, std::vector<std::string> args = {}) {
    const Script script{"test", source};
    return lua_.run({.script = &script, .keys = {"key"}, .args = std::move(args)}, *this);
  }

  Answer call(Words words) override {
    called_.emplace_back(words.begin(), words.end());
    return answer_;
  }

  std::vector<std::vector<std::string>> called_;
  Answer answer_ = Answer::of_ok();
  LuaRunner lua_;
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
  EXPECT_EQ(run("return redis.status_reply('fine')"), Reply::of_text("fine"));
  EXPECT_EQ(run("return 1e300"), Reply::of_integer(std::numeric_limits<std::int64_t>::min()));
}

TEST_F(LuaRunnerTest, GivesKeysAndArgumentsOfThisRunOnly) {
  EXPECT_EQ(run("return KEYS[1] .. ARGV[1] .. #ARGV", {"x", "y"}), Reply::of_text("keyx2"));
  EXPECT_EQ(run("return ARGV[1] .. ARGV[2] .. #ARGV", {"x", "z"}), Reply::of_text("xz2"));
  EXPECT_EQ(run("return #ARGV"), Reply::of_integer(0));
  EXPECT_EQ(run("return ARGV[1] == nil"), Reply::of_integer(1));
  EXPECT_EQ(run("return ARGV[1] .. #ARGV", {"x"}), Reply::of_text("x1"));
}

TEST_F(LuaRunnerTest, PassesNumbersToCommandsAsRedisDoes) {
  run("redis.call('SET', 9007199254740991, -12, 0.1, 1e20, -0, 123456789012345678)");
  const std::vector<std::string> words{"SET",
                                       "9007199254740991",
                                       "-12",
                                       "0.10000000000000001",
                                       "1e+20",
                                       "-0",
                                       "1.2345678901234568e+17"};
  EXPECT_EQ(called_.back(), words);
}

TEST_F(LuaRunnerTest, NumbersAndTextsBecomeEachOtherExactly) {
  EXPECT_EQ(run("return string.format('%.0f', 9007199254740991)"),
            Reply::of_text("9007199254740991"));
  EXPECT_EQ(run("return string.format('%.0f', 0)"), Reply::of_text("0"));
  EXPECT_EQ(run("return string.format('%.0f', 2.5)"), Reply::of_text("2"));
  EXPECT_EQ(run("return string.format('%.0f', -7)"), Reply::of_text("-7"));
  EXPECT_EQ(run("return string.format('%d-%s', 7, 'x')"), Reply::of_text("7-x"));
  EXPECT_EQ(run("return tonumber(ARGV[1])", {"9007199254740991"}),
            Reply::of_integer(9007199254740991));
  EXPECT_EQ(run("return tonumber(' 12 ')"), Reply::of_integer(12));
  EXPECT_EQ(run("return tonumber('-12')"), Reply::of_integer(-12));
  EXPECT_EQ(run("return tonumber('ff', 16)"), Reply::of_integer(255));
  EXPECT_EQ(run("return tonumber('0x10')"), Reply::of_integer(16));
  EXPECT_EQ(run("return tonumber('')"), Reply{});
  EXPECT_EQ(run("return tonumber('1 2')"), Reply{});
  EXPECT_EQ(run("return tonumber(3.5) * 2"), Reply::of_integer(7));
}

TEST_F(LuaRunnerTest, CommandsAnswerInLuaTerms) {
  EXPECT_EQ(run("return redis.call('SET', 'k', 'v').ok"), Reply::of_text("OK"));
  answer_ = {};
  EXPECT_EQ(run("return redis.call('GET', 'k') == false"), Reply::of_integer(1));
  const std::vector<std::string> time{"12", "34"};
  answer_ = Answer::of_array(time);
  EXPECT_EQ(run("local t = redis.call('TIME') return t[1] + t[2]"), Reply::of_integer(46));
}

TEST_F(LuaRunnerTest, AFailedCallEndsTheScriptAndAFailedPcallDoesNot) {
  answer_ = Answer::of_error("WRONGTYPE not a string");
  EXPECT_EQ(run("redis.call('GET', 'list')\nreturn 1"),
            Reply::of_error("WRONGTYPE not a string script: "
                            "c47d1e21b1fa3dd144da3e007da8697f7ec74482, on @user_script:1."));
  EXPECT_EQ(run("return redis.pcall('GET', 'k')"), Reply::of_error("WRONGTYPE not a string"));
  EXPECT_EQ(run("return redis.pcall('GET', 'k').err"), Reply::of_text("WRONGTYPE not a string"));
}

TEST_F(LuaRunnerTest, MistakesInScriptsAreErrors) {
  EXPECT_EQ(run("return return").kind, Reply::Kind::error);
  EXPECT_EQ(run("return nothing_like_it").kind, Reply::Kind::error);
  EXPECT_EQ(run("made_up = 1").kind, Reply::Kind::error);
  EXPECT_EQ(run("return os.time()").kind, Reply::Kind::error);
  EXPECT_EQ(run("redis.call({})").kind, Reply::Kind::error);
  EXPECT_EQ(run("error('bad')").kind, Reply::Kind::error);
  EXPECT_EQ(run("return 1"), Reply::of_integer(1));
}

TEST_F(LuaRunnerTest, GarbageDoesNotGrowWithoutBound) {
  constexpr int kRuns = 20'000;
  for (int i = 0; i < kRuns; ++i) {
    run("local t = {} for i = 1, 10 do t[i] = ARGV[1] .. i end return t", {std::to_string(i)});
    ASSERT_LT(lua_.memory_kb(), 1024U) << "after " << i << " runs";
  }
}

}  // namespace
}  // namespace holdfast::sim
