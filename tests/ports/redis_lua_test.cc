// Lua as scripts meet it: conversions, errors, what is there and what is not.

#include "tests/ports/redis_bed.h"

namespace holdfast::ports {
namespace {

struct Sample {
  /// A literal, which lives for the whole program.
  std::string_view source;
  Reply answer;
};

class LuaTest : public RedisPortTest {
 protected:
  Reply run(std::string_view source, std::vector<std::string> args = {}) {
    const redis::Script script{"sample", source};
    return eval(script, {"key", "k", "list", "none"}, std::move(args));
  }
  void expect(const std::vector<Sample>& samples) {
    for (const Sample& sample : samples)
      EXPECT_EQ(run(sample.source), sample.answer) << sample.source;
  }
};

TEST_P(LuaTest, ConvertsAnswers) {
  const Reply lowest = Reply::of_integer(std::numeric_limits<std::int64_t>::min());
  expect({{"return 3.99", Reply::of_integer(3)},
          {"return -3.99", Reply::of_integer(-3)},
          {"return 1e300", lowest},
          {"return -1e300", lowest},
          {"return 0/0", lowest},
          {"return 9007199254740993", Reply::of_integer(9007199254740992)},
          {"return 'a\\0b'", Reply::of_text(std::string{"a\0b", 3})},
          {"return true", Reply::of_integer(1)},
          {"return false", kNil},
          {"return nil", kNil},
          {"return", kNil},
          {"return function() end", kNil},
          {"return {}", Reply::of_array({})},
          {"return {1, {'x', false}, nil, 2}",
           Reply::of_array({Reply::of_integer(1), Reply::of_array({Reply::of_text("x"), kNil})})},
          {"return {ok = 'fine'}", Reply::of_text("fine")},
          {"return redis.status_reply('fine')", Reply::of_text("fine")}});
}

TEST_P(LuaTest, ConvertsErrors) {
  expect(
      {{"return {err = 'plain'}", Reply::of_error("plain")},
       {"return {err = 'on\\ntwo lines\\r\\n'}", Reply::of_error("on two lines")},
       {"return {1, {err = 'X y'}}",
        Reply::of_array({Reply::of_integer(1), Reply::of_error("X y")})},
       {"return redis.error_reply('word')", Reply::of_error("ERR word")},
       {"return redis.error_reply('TWO words')", Reply::of_error("TWO words")},
       {"return redis.error_reply('-TWO words')", Reply::of_error("TWO words")},
       {"return redis.error_reply('')", Reply::of_error("ERR ")},
       {"return redis.error_reply(1)", Reply::of_error("ERR wrong number or type of arguments")}});
}

TEST_P(LuaTest, ConvertsWhatCommandsAnswer) {
  expect({{"return redis.call('GET', 'none') == false", Reply::of_integer(1)},
          {"return redis.call('SET', 'k', 'v')", Reply::of_text("OK")},
          {"return redis.call('SET', 'k', 'v').ok", Reply::of_text("OK")},
          {"return redis.call('SET', 'k', 'w', 'NX')", kNil},
          {"return type(redis.call('EXISTS', 'k'))", Reply::of_text("number")},
          {"return type(redis.call('GET', 'k'))", Reply::of_text("string")},
          {"return #redis.call('TIME')", Reply::of_integer(2)},
          {"return type(redis.call('TIME')[1])", Reply::of_text("string")}});
}

TEST_P(LuaTest, PassesNumbersToCommands) {
  expect({{"redis.call('SET', 'k', 9007199254740991) return redis.call('GET', 'k')",
           Reply::of_text("9007199254740991")},
          {"redis.call('SET', 'k', -12) return redis.call('GET', 'k')", Reply::of_text("-12")},
          {"redis.call('SET', 'k', 0) return redis.call('GET', 'k')", Reply::of_text("0")},
          {"redis.call('SET', 'k', -0) return redis.call('GET', 'k')", Reply::of_text("-0")},
          {"redis.call('SET', 'k', 0.1) return redis.call('GET', 'k')",
           Reply::of_text("0.10000000000000001")},
          {"redis.call('SET', 'k', 1e20) return redis.call('GET', 'k')", Reply::of_text("1e+20")},
          {"redis.call('SET', 'k', 1e17) return redis.call('GET', 'k')", Reply::of_text("1e+17")},
          {"redis.call('SET', 'k', 1/0) return redis.call('GET', 'k')", Reply::of_text("inf")}});
}

TEST_P(LuaTest, FormatsAndReadsNumbers) {
  expect({{"return string.format('%.0f', 9007199254740991)", Reply::of_text("9007199254740991")},
          {"return string.format('%.0f', 9007199254740993)", Reply::of_text("9007199254740992")},
          {"return string.format('%.0f', 1e20)", Reply::of_text("100000000000000000000")},
          {"return string.format('%.0f', 2.5)", Reply::of_text("2")},
          {"return string.format('%.0f', '12')", Reply::of_text("12")},
          {"return '' .. 123456789012346", Reply::of_text("1.2345678901235e+14")},
          {"return tonumber('9007199254740991')", Reply::of_integer(9007199254740991)},
          {"return tonumber('0x10')", Reply::of_integer(16)},
          {"return tonumber(' 12 ')", Reply::of_integer(12)},
          {"return tonumber('1e3')", Reply::of_integer(1000)},
          {"return tonumber('')", kNil},
          {"return tonumber('seven')", kNil}});
}

TEST_P(LuaTest, AFailedCallEndsTheScriptAndNamesTheLine) {
  bed_->plant_list("list");
  EXPECT_EQ(run("redis.call('GET', 'list')\nreturn 1").text,
            "WRONGTYPE Operation against a key holding the wrong kind of value script: "
            "c47d1e21b1fa3dd144da3e007da8697f7ec74482, on @user_script:1.");
  EXPECT_TRUE(run("local a = 1\nredis.call('GET', 'list')").text.ends_with("@user_script:2."));
  EXPECT_EQ(run("return redis.pcall('GET', 'list')").text,
            "WRONGTYPE Operation against a key holding the wrong kind of value");
}

TEST_P(LuaTest, MistakesAreErrorsInTheSameWords) {
  const std::vector<std::pair<std::string_view, std::string>> mistakes{
      {"error('bad')", "ERR user_script:1: bad script: "},
      {"error('bad', 0)", "ERR bad script: "},
      {"error()", "ERR nil script: "},
      {"error({err = 'MINE x'})", "MINE x script: "},
      {"return nothing",
       "ERR user_script:1: Script attempted to access nonexistent global variable 'nothing' "},
      {"made_up = 1", "ERR user_script:1: Attempt to modify a readonly table script: "},
      {"return return",
       "ERR Error compiling script (new function): user_script:1: unexpected symbol near "},
      {"return nil + 1", "ERR user_script:1: attempt to perform arithmetic on a nil value script"},
      {"return ARGV[1] .. 'x'",
       "ERR user_script:1: attempt to concatenate field '?' (a nil value)"},
      {"return string.rep('x')",
       "ERR user_script:1: bad argument #2 to 'rep' (number expected, got no value) script: "},
      {"redis.call()", "ERR Please specify at least one argument for this redis lib call script: "},
      {"redis.call({})", "ERR Lua redis lib command arguments must be strings or integers script"},
      {"redis.call('NOSUCH')", "ERR Unknown Redis command called from script script: "},
      {"redis.call('GET')", "ERR Wrong number of args calling Redis command from script script: "},
      {"print('x')", "ERR user_script:1: Script attempted to access nonexistent global variable"}};
  for (const auto& [source, words] : mistakes) {
    const Reply reply = run(source);
    EXPECT_EQ(reply.kind, Reply::Kind::error) << source;
    EXPECT_TRUE(reply.text.starts_with(words)) << source << ": " << reply.text;
  }
}

TEST_P(LuaTest, KeysAndArgumentsAreOfThisRun) {
  EXPECT_EQ(run("return KEYS[1] .. #KEYS .. ARGV[2] .. #ARGV", {"x", "y"}),
            Reply::of_text("key4y2"));
  EXPECT_EQ(run("return {#ARGV, ARGV[1] == nil}"),
            Reply::of_array({Reply::of_integer(0), Reply::of_integer(1)}));
}

HOLDFAST_ON_BOTH_BEDS(LuaTest);

}  // namespace
}  // namespace holdfast::ports
