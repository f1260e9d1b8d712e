// open, get, put, erase and check with --file.

#include <gtest/gtest.h>

#include "tests/command/harness.h"

namespace holdfast::test {
namespace {

class FencedFileCommandsTest : public CommandTest {
 protected:
  Words on_file(Words words, const std::string& token) {
    return words + Words{"--file", path("ledger"), "--lock", "ledger", "--token", token};
  }
};

TEST_F(FencedFileCommandsTest, AFileRefusesAStaleToken) {
  EXPECT_EQ(run(on_file({"open"}, "33")).code, 0);
  EXPECT_EQ(run(on_file({"put", "one"}, "33")).code, 0);
  EXPECT_EQ(read("ledger"), "one");
  EXPECT_EQ(run(on_file({"get"}, "34")).out, "one");
  const Finished late = run(on_file({"put", "two"}, "33"));
  EXPECT_EQ(late.code, 78);
  EXPECT_NE(late.err.find("33"), std::string::npos) << late.err;
  EXPECT_NE(late.err.find("34"), std::string::npos) << late.err;
  EXPECT_EQ(run_json(on_file({"check"}, "33"), 78).at("highest").to_number<int>(), 34);
  EXPECT_EQ(read("ledger"), "one");
  EXPECT_EQ(run(on_file({"erase"}, "34")).code, 0);
  EXPECT_FALSE(exists("ledger"));
  EXPECT_EQ(run(on_file({"get"}, "34")).code, 66);
  EXPECT_EQ(run(on_file({"put", "two"}, "33")).code, 78) << "the marks stay";
}

TEST_F(FencedFileCommandsTest, InsideRunTheTokenComesFromTheEnvironment) {
  const Finished finished = run(Words{"run", "ledger"} +
                                shell("cd $D && $H open --file ledger &&"
                                      " printf 100 | $H put --file ledger &&"
                                      " $H put --file ledger $(($($H get --file ledger) - 80))"));
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(read("ledger"), "20");
}

TEST_F(FencedFileCommandsTest, AFileMayBeLarge) {
  const std::string large(3 << 20, 'x');
  const Finished put = run_with_input(on_file({"put", "-"}, "5"), large);
  EXPECT_EQ(put.code, 0) << put.err;
  EXPECT_EQ(read("ledger"), large);
}

TEST_F(FencedFileCommandsTest, ARepetitionIsADuplicate) {
  const Words write = on_file({"put", "one", "--seq", "1"}, "5");
  EXPECT_TRUE(run_json(write).at("applied").as_bool());
  EXPECT_TRUE(run_json(write).at("duplicate").as_bool());
  EXPECT_EQ(run_json(on_file({"put", "two"}, "5")).at("seq").to_number<int>(), 2);
}

TEST_F(FencedFileCommandsTest, WithoutATokenOrALockItIsNotUnderstood) {
  EXPECT_EQ(run({"put", "x", "--file", path("ledger")}).code, 64);
  EXPECT_EQ(run({"put", "x", "--file", path("ledger"), "--token", "5"}).code, 65);
  EXPECT_EQ(run(on_file({"put", "key", "value"}, "5")).code, 64);
  EXPECT_EQ(run(on_file({"get", "key"}, "5")).code, 64);
  EXPECT_FALSE(exists("ledger"));
}

TEST_F(FencedFileCommandsTest, ADirectoryThatIsNotThereIsNotFound) {
  const Finished finished =
      run({"put", "x", "--file", path("nowhere/ledger"), "--lock", "ledger", "--token", "5"});
  EXPECT_EQ(finished.code, 66) << finished.err;
}

}  // namespace
}  // namespace holdfast::test
