// Bad input for the store: a clear message, the right exit code, nothing lost, and what was stored
// before can be read afterwards.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/command/harness.h"

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;

using Case = BadArguments;
using StoreBadArgumentTest = BadArgumentsTest;

TEST_P(StoreBadArgumentTest, IsRefusedWithItsCause) {
  EXPECT_FALSE(refused().empty());
  EXPECT_FALSE(exists("state")) << "nothing may be touched";
}

const std::string kTooLong(513, 'x');

INSTANTIATE_TEST_SUITE_P(
    Table,
    StoreBadArgumentTest,
    testing::Values(
        Case{"TokenZero", {"put", "r", "v", "--token", "0"}, 65, "--token: '0'"},
        Case{"TokenNegative", {"put", "r", "v", "--token", "-1"}, 65, "--token: '-1'"},
        Case{"Token2To53",
             {"open", "r", "--token", "9007199254740992"},
             65,
             "'9007199254740992' is not a token"},
        Case{"Token2To64",
             {"check", "r", "--token", "18446744073709551615"},
             65,
             "'18446744073709551615'"},
        Case{"TokenBeyond", {"get", "r", "--token", "18446744073709551616"}, 65, "--token"},
        Case{"TokenText", {"erase", "r", "--token", "mine"}, 65, "--token: 'mine'"},
        Case{"TokenEmpty", {"erase", "r", "--token", ""}, 65, "--token: ''"},
        Case{"OwnerNonsense", {"open", "r", "--token", "5", "--owner", "me"}, 65, "--owner"},
        Case{"OwnerAlone", {"put", "r", "v", "--owner", kTooLong}, 64, "--owner"},
        Case{"LockTooLong", {"open", "r", "--token", "5", "--lock", kTooLong}, 65, "513 bytes"},
        Case{"SequenceText", {"put", "r", "v", "--token", "5", "--seq", "x"}, 65, "--seq: 'x'"},
        Case{"SequenceNegative", {"put", "r", "v", "--token", "5", "--seq", "-1"}, 65, "--seq"},
        Case{"SequenceAlone", {"put", "r", "v", "--seq", "1"}, 64, "--seq"},
        Case{"SequenceOfOpen", {"open", "r", "--token", "5", "--seq", "1"}, 65, "--seq"},
        Case{"VersionText", {"put", "k", "v", "--if-version", "x"}, 65, "--if-version: 'x'"},
        Case{"VersionNegative", {"erase", "k", "--if-version", "-1"}, 65, "--if-version: '-1'"},
        Case{"VersionAndToken",
             {"put", "k", "v", "--if-version", "1", "--token", "5"},
             64,
             "--if-version"},
        Case{"NoToken", {"open", "r"}, 64, "no token"},
        Case{"NoKey", {"get"}, 64, "no key"},
        Case{"NoValue", {"put", "k"}, 64, "no value"},
        Case{"EmptyKey", {"get", ""}, 65, "the key is empty"},
        Case{"KeyTooLong", {"put", kTooLong, "v"}, 65, "513 bytes"},
        Case{"KeyControl", {"put", "a\nb", "v"}, 65, "control character"},
        Case{"TwoValues", {"put", "k", "v", "w"}, 64, "unexpected argument 'w'"},
        Case{"AttemptsZero", {"update", "k", "--attempts", "0", "--", "true"}, 65, "--attempts: 0"},
        Case{"UpdateNothing", {"update", "k"}, 64, "no program"},
        Case{"OnceNothing", {"once", "k"}, 64, "no program"},
        Case{"OnceKeyTooLong", {"once", std::string(508, 'x'), "--", "true"}, 65, "508 bytes"},
        Case{"OnceKeepZero", {"once", "k", "--keep", "0", "--", "true"}, 65, "keep of 0 ms"},
        Case{"OnceKeepText", {"once", "k", "--keep", "ever", "--", "true"}, 65, "--keep: 'ever'"},
        Case{"OnceTtl", {"once", "k", "--ttl", "1ms", "--", "true"}, 65, "TTL of 1 ms"},
        Case{"OnceWait", {"once", "k", "--wait", "-1s", "--", "true"}, 65, "--wait: '-1s'"},
        Case{"OnceFailure",
             {"once", "k", "--on-failure", "panic", "--", "true"},
             65,
             "--on-failure: 'panic'"},
        Case{"RebaseWhy", {"store", "rebase", "r"}, 64, "--why"},
        Case{"RebaseWhyEmpty", {"store", "rebase", "r", "--why", ""}, 65, "--why"},
        Case{"StoreNothing", {"store"}, 64, "no command"}),
    [](const auto& given) { return std::string{given.param.label}; });

class StoreBadInputTest : public CommandTest {
 protected:
  void SetUp() override { ASSERT_EQ(run({"put", "k", "kept"}).code, 0); }

  void expect_refused(const Finished& finished, int code, const std::string& named) {
    EXPECT_EQ(finished.code, code) << finished.err;
    EXPECT_NE(finished.err.find(named), std::string::npos) << finished.err;
    EXPECT_NE(finished.err.find("\n  "), std::string::npos) << "a remedy: " << finished.err;
  }

  std::string database() const { return path("state/store.db"); }
  void expect_kept() { EXPECT_EQ(run({"get", "k"}).out, "kept"); }
};

TEST_F(StoreBadInputTest, AnUnknownResourceIsNotThere) {
  expect_refused(run({"get", "nothing"}), 66, "'nothing'");
  expect_refused(run({"store", "rebase", "nothing", "--why", "x"}), 66, "no fenced resource");
  expect_refused(run({"store", "rebase", "k", "--why", "x"}), 66, "no fenced resource");
  EXPECT_FALSE(exists("state/audit.log"));
  expect_kept();
}

TEST_F(StoreBadInputTest, AValueOverTheLimitIsRefused) {
  const std::string most(1 << 20, 'x');
  expect_refused(run_with_input({"put", "k", "-"}, most + "x"), 65, "1048576");
  expect_refused(run_with_input({"put", "k"}, most + most + most), 65, "1048576");
  expect_kept();
  EXPECT_EQ(run_with_input({"put", "k", "-"}, most).code, 0) << "at the limit";
  EXPECT_EQ(run({"get", "k"}).out, most);
}

TEST_F(StoreBadInputTest, AForeignDatabaseIsRefusedAndKept) {
  const std::string before = read("state/store.db");
  const std::string garbage = "somebody else's file, and a long one\n" + std::string(5000, 'g');
  write("state/store.db", garbage);
  for (const Words& attempt : {Words{"get", "k"}, Words{"put", "k", "x"}, Words{"erase", "k"}}) {
    expect_refused(run(attempt), 74, "store.db");
  }
  EXPECT_EQ(read("state/store.db"), garbage);
  write("state/store.db", before);
  expect_kept();
}

TEST_F(StoreBadInputTest, ATruncatedDatabaseIsRefusedAndKept) {
  const std::string before = read("state/store.db");
  for (const std::size_t size : {std::size_t{1000}, before.size() / 2}) {
    write("state/store.db", before.substr(0, size));
    expect_refused(run({"put", "k", "x"}), 74, "store.db");
    EXPECT_EQ(read("state/store.db"), before.substr(0, size));
  }
  write("state/store.db", before);
  expect_kept();
}

TEST_F(StoreBadInputTest, AFullDiskLosesNothing) {
  write("large", std::string(1 << 20, 'x'));
  // No file may grow beyond 1000 blocks of 512 bytes, as if the disk were full.
  const Finished full = run(Words{"run", "x"} +
                            shell("trap '' XFSZ; ulimit -f 1000; $H put k --unfenced < $D/large"));
  EXPECT_EQ(full.code, 74) << full.err;
  EXPECT_NE(full.err.find("\n  "), std::string::npos) << full.err;
  expect_kept();
  EXPECT_EQ(run({"put", "k", "after"}).code, 0) << "and it goes on when there is room";
}

TEST_F(StoreBadInputTest, ADatabaseOfSomebodyElseIsDenied) {
  fs::permissions(path(""), fs::perms::all);
  for (const auto& entry : fs::directory_iterator{state_directory()}) {
    fs::permissions(entry.path(), fs::perms::all);
  }
  fs::permissions(state_directory(), fs::perms::all);
  ASSERT_EQ(chmod(database().c_str(), 0600), 0);
  for (const Words& attempt : {Words{"get", "k"}, Words{"put", "k", "x"}}) {
    expect_refused(run(Launch{.arguments = attempt, .uid = kNobody}), 77, "store.db");
  }
  expect_kept();
}

TEST_F(StoreBadInputTest, AReadOnlyDirectoryIsDenied) {
  fs::permissions(path(""), fs::perms::all);
  const auto closed = fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec;
  for (const auto& entry : fs::directory_iterator{state_directory()}) {
    fs::permissions(entry.path(), fs::perms::owner_all | fs::perms::others_read);
  }
  fs::permissions(state_directory(), closed);
  expect_refused(
      run(Launch{.arguments = {"put", "k", "x"}, .uid = kNobody}), 77, state_directory());
  const Finished file = run(
      Launch{.arguments = {"put", "x", "--file", path("state/f"), "--lock", "l", "--token", "5"},
             .environment = {{"HOLDFAST_ENGINE", "local:" + path("own")}},
             .uid = kNobody});
  expect_refused(file, 77, path("state/f"));
  expect_kept();
}

}  // namespace
}  // namespace holdfast::test
