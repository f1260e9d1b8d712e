// update: a program computes, compare-and-swap decides.

#include <gtest/gtest.h>

#include "tests/command/harness.h"

namespace holdfast::test {
namespace {

class UpdateCommandTest : public CommandTest {
 protected:
  Words increment(const std::string& key) const {
    return Words{"update", key} + shell("read n; echo $((n + 1))");
  }
};

TEST_F(UpdateCommandTest, TheProgramMakesTheNewValueFromTheOld) {
  const auto first = run_json(increment("n"));
  EXPECT_EQ(first.at("conflicts").to_number<int>(), 0);
  EXPECT_EQ(run(increment("n")).code, 0);
  const auto entry = run_json({"get", "n"});
  EXPECT_EQ(entry.at("value").as_string(), "2\n");
  EXPECT_GT(entry.at("version").to_number<int>(), first.at("version").to_number<int>());
}

TEST_F(UpdateCommandTest, TheProgramKnowsKeyAndVersion) {
  const Words tell = Words{"update", "n"} + shell("echo $HOLDFAST_KEY $HOLDFAST_VERSION");
  ASSERT_EQ(run(tell).code, 0);
  const auto first = run_json({"get", "n"});
  EXPECT_EQ(first.at("value").as_string(), "n 0\n");
  ASSERT_EQ(run(tell).code, 0);
  EXPECT_EQ(run({"get", "n"}).out,
            "n " + std::to_string(first.at("version").to_number<int>()) + "\n");
}

TEST_F(UpdateCommandTest, AProgramThatFailsWritesNothing) {
  ASSERT_EQ(run({"put", "n", "1"}).code, 0);
  EXPECT_EQ(run(Words{"update", "n"} + shell("echo 2; exit 7")).code, 7);
  EXPECT_EQ(run(Words{"update", "n"} + shell("kill -9 $$")).code, 137);
  EXPECT_EQ(run_json(Words{"update", "n"} + shell("exit 7"), 7).at("status").to_number<int>(), 7);
  EXPECT_EQ(run({"update", "n", "--", path("nosuch")}).code, 127);
  EXPECT_EQ(run(Words{"update", "n"} + shell("head -c 1100000 /dev/zero")).code, 65);
  EXPECT_EQ(run({"get", "n"}).out, "1");
}

TEST_F(UpdateCommandTest, NoneOfManyIsLost) {
  constexpr int kWriters = 8;
  constexpr int kEach = 5;
  std::vector<Running> writers;
  for (int i = 0; i < kWriters; ++i) {
    writers.push_back(
        start(Words{"run", "writer/" + std::to_string(i)} +
              shell("for i in 1 2 3 4 5; do $H update n -- sh -c 'read n; echo $((n + 1))' || exit;"
                    " done")));
  }
  for (Running& writer : writers) {
    const Finished finished = writer.wait();
    EXPECT_EQ(finished.code, 0) << finished.err;
  }
  EXPECT_EQ(run({"get", "n"}).out, std::to_string(kWriters * kEach) + "\n");
}

TEST_F(UpdateCommandTest, TooManyConflictsAreAConflict) {
  // Somebody else is always first: the program itself puts the key.
  const Words program = shell("$H put n x >/dev/null; echo y");
  const Finished finished = run(Words{"update", "n", "--attempts", "3"} + program);
  EXPECT_EQ(finished.code, 79);
  EXPECT_NE(finished.err.find("3 times"), std::string::npos) << finished.err;
  EXPECT_EQ(run_json(Words{"update", "n", "--attempts", "1"} + program, 79).at("code").as_string(),
            "too_many_conflicts");
  EXPECT_EQ(run({"get", "n"}).out, "x");
}

TEST_F(UpdateCommandTest, AFencedResourceIsNotForIt) {
  ASSERT_EQ(run({"put", "r", "1", "--token", "5"}).code, 0);
  EXPECT_EQ(run(increment("r")).code, 78);
  EXPECT_EQ(run({"get", "r"}).out, "1");
}

}  // namespace
}  // namespace holdfast::test
