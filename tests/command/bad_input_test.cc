// Bad input: a message that names the cause, the right exit code, and nothing touched.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/command/harness.h"

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;

using Case = BadArguments;
using BadArgumentTest = BadArgumentsTest;

TEST_P(BadArgumentTest, IsRefusedWithItsCause) {
  const auto error = refused();
  ASSERT_FALSE(error.empty());
  EXPECT_EQ(error.at("code").as_string(), GetParam().code == 64 ? "usage" : "invalid_argument");
  EXPECT_TRUE(error.at("nodes").as_array().empty());
  EXPECT_TRUE(run_json({"ls"}).at("locks").as_array().empty()) << "nothing may be held";
}

const std::string kTooLong(513, 'x');

INSTANTIATE_TEST_SUITE_P(
    Table,
    BadArgumentTest,
    testing::Values(
        Case{"EmptyName", {"run", "", "--", "true"}, 65, "name is empty"},
        Case{"EmptyNameToAcquire", {"acquire", ""}, 65, "name is empty"},
        Case{"OverlongName", {"run", kTooLong, "--", "true"}, 65, "513 bytes"},
        Case{"ControlCharacter", {"run", "a\nb", "--", "true"}, 65, "control character"},
        Case{"NotUtf8", {"acquire", "a\xff"}, 65, "not UTF-8"},
        Case{"TtlZero", {"run", "x", "--ttl", "0", "--", "true"}, 65, "0 ms is out of range"},
        Case{"TtlNegative", {"run", "x", "--ttl", "-5s", "--", "true"}, 65, "negative"},
        Case{"TtlTooShort", {"acquire", "x", "--ttl", "99ms"}, 65, "99 ms"},
        Case{"TtlTooLong", {"run", "x", "--ttl", "25h", "--", "true"}, 65, "out of range"},
        Case{"TtlNonsense", {"acquire", "x", "--ttl", "soon"}, 65, "--ttl: 'soon'"},
        Case{"TtlWithoutUnit", {"acquire", "x", "--ttl", "30"}, 65, "unit is missing"},
        Case{"TtlOfDoctor", {"doctor", "--ttl", "99ms"}, 65, "99 ms is out of range"},
        Case{"TtlMissing", {"acquire", "x", "--ttl"}, 64, "--ttl"},
        Case{"WaitNegative", {"acquire", "x", "--wait", "-1s"}, 65, "--wait: '-1s'"},
        Case{"GraceNonsense", {"run", "x", "--grace", "x", "--", "true"}, 65, "--grace"},
        Case{"PermitsZero", {"acquire", "x", "--permits", "0"}, 65, "--permits: '0'"},
        Case{"PermitsNegative", {"acquire", "x", "--permits", "-1"}, 65, "--permits: '-1'"},
        Case{"SharedPermits", {"acquire", "x", "--shared", "--permits", "2"}, 64, "--permits"},
        Case{"LabelTooLong", {"acquire", "x", "--label", std::string(5000, 'l')}, 65, "label"},
        Case{"LabelControl", {"acquire", "x", "--label", "a\x1b[0m"}, 65, "--label"},
        Case{"StatusFdClosed", {"run", "x", "--status-fd", "77", "--", "true"}, 65, "'77'"},
        Case{"StatusFdNonsense", {"run", "x", "--status-fd", "out", "--", "true"}, 65, "'out'"},
        Case{"OwnerNonsense", {"renew", "x", "--owner", "me"}, 65, "--owner"},
        Case{"OwnerMissing", {"release", "x"}, 64, "--owner"},
        Case{"UpgradeOwnerMissing", {"upgrade", "x"}, 64, "--owner"},
        Case{"UpgradeOwnerNonsense", {"upgrade", "x", "--owner", "me"}, 65, "--owner"},
        Case{"DowngradeIntentMissing", {"downgrade", "x", "--owner", "me"}, 64, "--intent"},
        Case{"DowngradeIntentNonsense",
             {"downgrade", "x", "--owner", std::string(32, 'a'), "--intent", "me"},
             65,
             "--intent"},
        Case{"WriterThatShares", {"acquire", "x", "--writer", "--shared"}, 64, "--shared"},
        Case{"WriterWithPermits", {"acquire", "x", "--writer", "--permits", "2"}, 64, "--permits"},
        Case{"WriterOfSeveral", {"run", "x", "--writer", "--and", "y", "--", "true"}, 64, "--and"},
        Case{"WriterAtMostEvery",
             {"run", "x", "--writer", "--at-most-every", "1m", "--", "true"},
             64,
             "--at-most-every"},
        Case{"NameMissing", {"show"}, 64, "NAME"},
        Case{"NoProgram", {"run", "x"}, 64, "no program"},
        Case{"NoProgramAfterDashes", {"run", "x", "--"}, 64, "no program"},
        Case{"ProgramWithoutDashes", {"run", "x", "true"}, 64, "unexpected argument 'true'"},
        Case{"UnknownOption", {"run", "x", "--tll", "5s", "--", "true"}, 64, "'--tll'"},
        Case{"UnknownShortOption", {"ls", "-z"}, 64, "'-z'"},
        Case{"UnknownCommand", {"rnu", "x"}, 64, "unknown command 'rnu'"},
        Case{"UnknownEngine", {"ls", "--engine", "nosuch://x"}, 65, "nosuch"},
        Case{"UnknownShell", {"completion", "fish"}, 65, "'fish'"},
        Case{"UnknownBench", {"bench", "oracle"}, 65, "'oracle'"}),
    [](const auto& given) { return std::string{given.param.label}; });

class BadInputTest : public CommandTest {
 protected:
  // The state file a fresh engine makes.
  std::string state_file() {
    EXPECT_EQ(run({"acquire", "seed", "--ttl", "1h"}).code, 0);
    std::string largest;
    for (const auto& entry : fs::directory_iterator{state_directory()}) {
      if (!entry.is_regular_file()) continue;
      if (largest.empty() || entry.file_size() > fs::file_size(largest)) largest = entry.path();
    }
    return largest;
  }

  void expect_refused(const Finished& finished, int code, const std::string& named) {
    EXPECT_EQ(finished.code, code) << finished.err;
    EXPECT_NE(finished.err.find(named), std::string::npos) << finished.err;
    EXPECT_FALSE(exists("ran"));
  }

  std::vector<std::string> attempt() { return {"run", "x", "--", "touch", path("ran")}; }
};

TEST_F(BadInputTest, NearMissesAreSuggested) {
  EXPECT_NE(run({"run", "x", "--tll", "5s", "--", "true"}).err.find("did you mean '--ttl'"),
            std::string::npos);
  EXPECT_NE(run({"rnu", "x"}).err.find("did you mean 'run'"), std::string::npos);
  EXPECT_NE(run({"ls", "--zzzzzzzz"}).err.find("holdfast ls --help"), std::string::npos);
}

TEST_F(BadInputTest, WithoutArgumentsItShowsHowItIsUsed) {
  const Finished finished = run(Words{});
  EXPECT_EQ(finished.code, 64);
  EXPECT_NE(finished.err.find("Usage:"), std::string::npos);
}

TEST_F(BadInputTest, OneServerThatIsNotThereIsNamedOnce) {
  const Finished finished = run({"ls", "--engine", "etcd://127.0.0.1:1?timeout=300ms"});
  EXPECT_EQ(finished.code, 69);
  EXPECT_EQ(finished.err,
            "holdfast: etcd 127.0.0.1:1: connection refused\n"
            "  check the engine's address and its servers\n");
}

TEST_F(BadInputTest, AForeignStateFileIsRefusedAndKept) {
  const std::string file = state_file();
  std::string text(fs::file_size(file), '\0');
  text.replace(0, 21, "somebody else's file\n");
  write("state/" + fs::path{file}.filename().string(), text);
  expect_refused(run(attempt()), 74, state_directory());
  EXPECT_EQ(read("state/" + fs::path{file}.filename().string()), text);
}

TEST_F(BadInputTest, ATruncatedStateFileIsRefusedAndKept) {
  const std::string file = state_file();
  fs::resize_file(file, 1000);
  expect_refused(run(attempt()), 74, state_directory());
  EXPECT_EQ(fs::file_size(file), 1000U);
}

TEST_F(BadInputTest, AnUnreadableStateFileIsRefused) {
  const std::string file = state_file();
  fs::permissions(path(""), fs::perms::all);
  fs::permissions(state_directory(), fs::perms::all);
  ASSERT_EQ(chmod(file.c_str(), 0600), 0);
  expect_refused(run(Launch{.arguments = attempt(), .uid = kNobody}), 77, state_directory());
}

TEST_F(BadInputTest, AReadOnlyDirectoryIsRefused) {
  fs::create_directory(path("closed"));
  fs::permissions(path(""), fs::perms::all);
  fs::permissions(path("closed"),
                  fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
  const Finished finished =
      run(Launch{.arguments = attempt(),
                 .environment = {{"HOLDFAST_ENGINE", "local:" + path("closed/state")}},
                 .uid = kNobody});
  expect_refused(finished, 77, path("closed/state"));
}

TEST_F(BadInputTest, ADirectoryThatIsAFileIsRefused) {
  write("state", "a file");
  expect_refused(run(attempt()), 74, state_directory());
  EXPECT_EQ(read("state"), "a file");
}

TEST_F(BadInputTest, AResultThatCannotBeWrittenIsAnError) {
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  for (const char* command : {"ls", "--help", "--version"}) {
    const Finished finished =
        run(Launch{.arguments = {command, "--json"}, .descriptors = {{1, full}}});
    EXPECT_EQ(finished.code, 74) << command;
  }
  close(full);
}

TEST_F(BadInputTest, NamesAtTheirLimitAreFine) {
  const std::string longest(512, 'x');
  EXPECT_EQ(run({"run", longest, "--", "true"}).code, 0);
  EXPECT_EQ(run({"run", "x", "--ttl", "24h", "--", "true"}).code, 0);
  EXPECT_EQ(run({"run", "x", "--ttl", "100ms", "--", "true"}).code, 0);
  EXPECT_EQ(run({"run", "x", "--label", std::string(4096, 'l'), "--", "true"}).code, 0);
}

}  // namespace
}  // namespace holdfast::test
