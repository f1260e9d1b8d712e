// limit: not more often than that, with everybody who uses the key.

#include <gtest/gtest.h>

#include "tests/command/harness.h"

namespace holdfast::test {
namespace {

class LimitCommandTest : public CommandTest {
 protected:
  Words limit(const std::string& key, const Words& options, std::string_view script) const {
    return Words{"limit", key} + options + shell(script);
  }
};

TEST_F(LimitCommandTest, RunsAsOftenAsAllowedAndThenSaysWhenToRetry) {
  const Words call = limit("k", {"--rate", "1/h", "--burst", "2"}, "echo ran; exit 3");
  for (int i = 0; i < 2; ++i) {
    const Finished allowed = run(call);
    EXPECT_EQ(allowed.code, 3);
    EXPECT_EQ(allowed.out, "ran\n");
    EXPECT_EQ(allowed.err, "");
  }
  const Finished refused = run(call);
  EXPECT_EQ(refused.code, 75);
  EXPECT_EQ(refused.out, "");
  EXPECT_TRUE(refused.err.starts_with("holdfast: 'k' is over its limit of 1/h; retry in "))
      << refused.err;
  EXPECT_EQ(run(limit("other", {"--rate", "1/h"}, "true")).code, 0);
}

TEST_F(LimitCommandTest, WithoutAProgramItAsks) {
  const Words call{"limit", "k", "--rate", "5/h", "--cost", "2"};
  const Finished asked = run(call);
  EXPECT_EQ(asked.code, 0);
  EXPECT_EQ(asked.out, "k allowed, 3 left\n");
  const auto second = run_json(call);
  EXPECT_EQ(keys(second),
            (std::set<std::string>{"key", "allowed", "remaining", "waited_ms", "retry_after_ms"}));
  EXPECT_EQ(second.at("key").as_string(), "k");
  EXPECT_TRUE(second.at("allowed").as_bool());
  EXPECT_EQ(second.at("remaining").to_number<int>(), 1);
  EXPECT_EQ(second.at("waited_ms").to_number<int>(), 0);
  const auto refused = run_json(call, 75);
  EXPECT_FALSE(refused.at("allowed").as_bool());
  const auto retry_after = refused.at("retry_after_ms").to_number<std::int64_t>();
  EXPECT_GT(retry_after, 0);
  EXPECT_LE(retry_after, 12 * 60 * 1000);
}

TEST_F(LimitCommandTest, WaitsForItsTurn) {
  const Words call = limit("k", {"--rate", "1/100ms", "--wait", "forever"}, "date +%s%N >> $D/at");
  for (int i = 0; i < 3; ++i) ASSERT_EQ(run(call).code, 0);
  const Words at = read_lines("at");
  ASSERT_EQ(at.size(), 3U);
  EXPECT_GE(std::stoll(at[2]) - std::stoll(at[0]), 190'000'000);
  const Words impatient = limit("l", {"--rate", "1/h", "--wait", "1s"}, "true");
  EXPECT_EQ(run(impatient).code, 0);
  EXPECT_EQ(run(impatient).code, 75);
}

TEST_F(LimitCommandTest, TheProgramTakesItsPlaceAndStdinIsItsOwn) {
  const Finished finished = run_with_input(limit("k", {"--rate", "1/s"}, "cat"), "typed");
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(finished.out, "typed");
  const Words missing{"limit", "l", "--rate", "1/s", "--", "/no/such/program"};
  EXPECT_EQ(run(missing).code, 127);
}

TEST_F(LimitCommandTest, WhatIsWrongIsNamed) {
  const auto wrong = [&](const Words& options, int code, std::string_view named) {
    const Finished finished = run(Words{"limit", "k"} + options);
    EXPECT_EQ(finished.code, code) << finished.err;
    EXPECT_NE(finished.err.find(named), std::string::npos) << finished.err;
  };
  wrong({}, 64, "--rate");
  wrong({"--rate", "10"}, 65, "--rate: '10' is not a rate");
  wrong({"--rate", "0/s"}, 65, "the rate");
  wrong({"--rate", "1/s", "--burst", "x"}, 65, "--burst");
  wrong({"--rate", "1/s", "--cost", "2"}, 65, "a cost of 2");
  wrong({"--rate", "1/s", "--wait", "soon"}, 65, "--wait");
  EXPECT_EQ(run({"limit", "", "--rate", "1/s"}).code, 65);
}

}  // namespace
}  // namespace holdfast::test
