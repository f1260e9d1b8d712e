// open, get, put, erase, check and store rebase.

#include <gtest/gtest.h>

#include <set>

#include "tests/command/harness.h"

namespace holdfast::test {
namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}

class StoreCommandsTest : public CommandTest {
 protected:
  /// The environment of a program that `run` started with this lease.
  static std::map<std::string, std::string> inside_run(const boost::json::object& lease) {
    return {{"HOLDFAST_SEQUENCER", std::string{lease.at("sequencer").as_string()}}};
  }

  std::string get(const std::string& key) {
    const Finished finished = run({"get", key});
    EXPECT_EQ(finished.code, 0) << finished.err;
    return finished.out;
  }
};

TEST_F(StoreCommandsTest, AValueComesBackAsItWas) {
  EXPECT_EQ(run({"put", "k", "hello world"}).code, 0);
  EXPECT_EQ(get("k"), "hello world");
  EXPECT_EQ(run({"put", "k", "-5"}).code, 0);
  EXPECT_EQ(get("k"), "-5");
  EXPECT_EQ(run({"put", "k", "--json", "-6"}).code, 0);
  EXPECT_EQ(get("k"), "-6");
  EXPECT_EQ(run({"put", "k", "--", "--text"}).code, 0);
  EXPECT_EQ(get("k"), "--text");
  EXPECT_EQ(run({"put", "k", ""}).code, 0);
  EXPECT_EQ(get("k"), "");
  const std::string bytes{"a\0\xff\n", 4};
  EXPECT_EQ(run_with_input({"put", "k", "-"}, bytes).code, 0);
  EXPECT_EQ(get("k"), bytes);
  EXPECT_EQ(run_json({"get", "k"}).at("value_base64").as_string(), "YQD/Cg==");
}

TEST_F(StoreCommandsTest, InAPipeTheValueIsOnStdin) {
  EXPECT_EQ(run_with_input({"put", "k"}, "from a pipe").code, 0);
  EXPECT_EQ(get("k"), "from a pipe");
  EXPECT_EQ(run({"put", "k"}).code, 64) << "/dev/null is no value";
  EXPECT_EQ(get("k"), "from a pipe");
}

TEST_F(StoreCommandsTest, GetTellsWhatDesignSays) {
  const std::set<std::string> fields{"key", "found", "value", "version", "token", "seq"};
  ASSERT_EQ(run({"put", "k", "1"}).code, 0);
  const auto entry = run_json({"get", "k"});
  EXPECT_EQ(keys(entry), fields);
  EXPECT_EQ(entry.at("value").as_string(), "1");
  EXPECT_TRUE(entry.at("token").is_null());
  const auto none = run_json({"get", "nothing"}, 66);
  EXPECT_FALSE(none.at("found").as_bool());
  EXPECT_EQ(none.at("version").to_number<int>(), 0);
  const Finished human = run({"get", "nothing"});
  EXPECT_EQ(human.code, 66);
  EXPECT_EQ(human.out, "");
  EXPECT_TRUE(contains(human.err, "'nothing'")) << human.err;
}

TEST_F(StoreCommandsTest, PutWithAVersionIsACompareAndSwap) {
  const auto first = run_json({"put", "k", "1", "--if-version", "0"});
  EXPECT_EQ(keys(first),
            (std::set<std::string>{"key", "applied", "duplicate", "version", "token", "seq"}));
  EXPECT_TRUE(first.at("applied").as_bool());
  const std::string version = std::to_string(first.at("version").to_number<int>());
  EXPECT_EQ(run({"put", "k", "2", "--if-version", version}).code, 0);
  const Finished late = run({"put", "k", "3", "--if-version", version});
  EXPECT_EQ(late.code, 79);
  const auto actual = run_json({"get", "k"}).at("version").to_number<int>();
  EXPECT_TRUE(contains(late.err, "version " + std::to_string(actual))) << late.err;
  EXPECT_TRUE(contains(late.err, "not at " + version)) << late.err;
  const auto refused = run_json({"put", "k", "3", "--if-version", version}, 79);
  EXPECT_EQ(refused.at("code").as_string(), "version_conflict");
  EXPECT_EQ(refused.at("actual").to_number<int>(), actual);
  EXPECT_EQ(run({"put", "k", "3", "--if-version", "0"}).code, 79) << "it exists";
  EXPECT_EQ(get("k"), "2");
}

TEST_F(StoreCommandsTest, EraseTakesAVersionToo) {
  EXPECT_FALSE(run_json({"erase", "k"}).at("applied").as_bool());
  const auto put = run_json({"put", "k", "1"});
  EXPECT_EQ(run({"erase", "k", "--if-version", "99"}).code, 79);
  EXPECT_EQ(get("k"), "1");
  const std::string version = std::to_string(put.at("version").to_number<int>());
  EXPECT_TRUE(run_json({"erase", "k", "--if-version", version}).at("applied").as_bool());
  EXPECT_EQ(run({"get", "k"}).code, 66);
}

TEST_F(StoreCommandsTest, AStaleTokenIsRefusedWithBothTokens) {
  const auto opened = run_json({"open", "r", "--token", "33"});
  EXPECT_EQ(keys(opened), (std::set<std::string>{"key", "opened", "token", "seq"}));
  EXPECT_EQ(run({"put", "r", "old", "--token", "33"}).code, 0);
  EXPECT_EQ(run({"open", "r", "--token", "34"}).code, 0);
  for (const Words& late : {Words{"put", "r", "late", "--token", "33"},
                            Words{"erase", "r", "--token", "33"},
                            Words{"get", "r", "--token", "33"},
                            Words{"open", "r", "--token", "33"},
                            Words{"check", "r", "--token", "33"}}) {
    const Finished human = run(late);
    EXPECT_EQ(human.code, 78) << late.front();
    EXPECT_TRUE(contains(human.err, "33") && contains(human.err, "34")) << human.err;
    EXPECT_EQ(human.out, "");
    const auto json = run_json(late, 78);
    EXPECT_EQ(json.at("code").as_string(), "stale_token");
    EXPECT_EQ(json.at("yours").to_number<int>(), 33);
    EXPECT_EQ(json.at("highest").to_number<int>(), 34);
    EXPECT_EQ(json.at("error").at("code").as_string(), "stale_token");
  }
  EXPECT_EQ(get("r"), "old");
}

TEST_F(StoreCommandsTest, ARepetitionIsADuplicate) {
  const Words write{"put", "r", "1", "--token", "5", "--seq", "1"};
  const auto first = run_json(write);
  EXPECT_TRUE(first.at("applied").as_bool());
  const auto again = run_json(write);
  EXPECT_FALSE(again.at("applied").as_bool());
  EXPECT_TRUE(again.at("duplicate").as_bool());
  EXPECT_EQ(again.at("version"), first.at("version"));
  EXPECT_EQ(run({"put", "r", "2", "--token", "5", "--seq", "1"}).code, 65) << "another operation";
  EXPECT_EQ(run_json({"put", "r", "2", "--token", "5"}).at("seq").to_number<int>(), 2);
  EXPECT_EQ(run(write).code, 78) << "older than the last";
  EXPECT_EQ(run({"erase", "r", "--token", "5", "--seq", "3"}).code, 0);
  EXPECT_TRUE(run_json({"erase", "r", "--token", "5", "--seq", "3"}).at("duplicate").as_bool());
  EXPECT_EQ(run({"put", "r", "x", "--token", "5", "--seq", "0"}).code, 65);
}

TEST_F(StoreCommandsTest, ATokenBelongsToItsOwner) {
  const std::string mine(32, 'a');
  EXPECT_EQ(run({"open", "r", "--token", "5", "--owner", mine}).code, 0);
  EXPECT_EQ(run({"put", "r", "1", "--token", "5", "--owner", mine}).code, 0);
  EXPECT_EQ(run({"put", "r", "2", "--token", "5", "--owner", std::string(32, 'b')}).code, 78);
  EXPECT_EQ(run({"put", "r", "2", "--token", "5"}).code, 78);
  const Finished from_environment =
      run(Launch{.arguments = {"put", "r", "3", "--token", "5", "--lock", "r"},
                 .environment = {{"HOLDFAST_TOKEN", "5"}, {"HOLDFAST_OWNER", mine}}});
  EXPECT_EQ(from_environment.code, 0) << from_environment.err;
  const Finished of_another_token =
      run(Launch{.arguments = {"put", "r", "4", "--token", "5", "--lock", "r"},
                 .environment = {{"HOLDFAST_TOKEN", "6"}, {"HOLDFAST_OWNER", mine}}});
  EXPECT_EQ(of_another_token.code, 78);
  EXPECT_EQ(get("r"), "3");
}

TEST_F(StoreCommandsTest, AcquireAndTheStoreFitTogether) {
  const auto lease = run_json({"acquire", "r"});
  const Words proof{"--token",
                    std::to_string(lease.at("token").to_number<std::uint64_t>()),
                    "--owner",
                    std::string{lease.at("owner").as_string()}};
  EXPECT_EQ(run(Words{"put", "r", "1"} + proof).code, 0);
  const Finished read = run(Launch{.arguments = {"get", "r"}, .environment = inside_run(lease)});
  EXPECT_EQ(read.out, "1") << "the same holder, by its sequencer: " << read.err;
  EXPECT_EQ(run(Words{"put", "other", "1", "--lock", "r"} + proof).code, 0);
}

TEST_F(StoreCommandsTest, SharedHoldersRead) {
  ASSERT_EQ(run({"put", "r", "1", "--token", "5"}).code, 0);
  EXPECT_EQ(run({"get", "r", "--token", "6", "--shared"}).out, "1");
  EXPECT_EQ(run({"put", "r", "2", "--token", "6", "--shared"}).code, 65);
  EXPECT_EQ(run({"put", "r", "2", "--token", "5"}).code, 78) << "a reader has come since";
}

TEST_F(StoreCommandsTest, StrictResourcesAllowOneWritePerToken) {
  EXPECT_EQ(run({"open", "r", "--strict", "--token", "5"}).code, 0);
  EXPECT_EQ(run({"put", "r", "1", "--token", "5"}).code, 0);
  EXPECT_EQ(run({"put", "r", "2", "--token", "5"}).code, 78);
  EXPECT_EQ(run({"put", "r", "2", "--token", "6"}).code, 0);
}

TEST_F(StoreCommandsTest, AFencedResourceCannotBePutWithoutAToken) {
  ASSERT_EQ(run({"put", "r", "1", "--token", "5"}).code, 0);
  EXPECT_EQ(run({"put", "r", "2"}).code, 78);
  EXPECT_EQ(run({"put", "r", "2", "--if-version", "1"}).code, 78);
  EXPECT_EQ(run({"erase", "r"}).code, 78);
  EXPECT_EQ(get("r"), "1");
}

TEST_F(StoreCommandsTest, OpenAndCheckSayHowToGiveAToken) {
  for (const char* command : {"open", "check"}) {
    const Finished finished = run({command, "r"});
    EXPECT_EQ(finished.code, 64);
    EXPECT_TRUE(contains(finished.err, "--token") && contains(finished.err, "holdfast run"))
        << finished.err;
  }
  EXPECT_EQ(run_json({"check", "r", "--token", "5"}).at("good").as_bool(), true);
}

TEST_F(StoreCommandsTest, InsideRunEverythingIsFenced) {
  const Finished finished =
      run(Words{"run", "ledger"} + shell("$H open ledger && $H put ledger 100 &&"
                                         " balance=$($H get ledger) &&"
                                         " $H put ledger $((balance - 80)) && $H check ledger"));
  EXPECT_EQ(finished.code, 0) << finished.err;
  const auto entry = run_json({"get", "ledger"});
  EXPECT_EQ(entry.at("value").as_string(), "20");
  EXPECT_FALSE(entry.at("token").is_null());
  EXPECT_EQ(entry.at("seq").to_number<int>(), 2);
}

TEST_F(StoreCommandsTest, InsideRunTheFenceCanBeLeftOut) {
  EXPECT_EQ(run(Words{"run", "x"} +
                shell("$H put a 1 --unfenced && $H put b 2 --if-version 0 && $H get a --unfenced"))
                .code,
            0);
  EXPECT_TRUE(run_json({"get", "a"}).at("token").is_null());
  EXPECT_EQ(run({"put", "b", "3"}).code, 0) << "not fenced";
}

TEST_F(StoreCommandsTest, APermitIsNotFenced) {
  const Finished finished = run(Words{"run", "x", "--permits", "2"} + shell("$H put a 1"));
  EXPECT_EQ(finished.code, 65);
  EXPECT_TRUE(contains(finished.err, "permit")) << finished.err;
  EXPECT_EQ(run({"get", "a"}).code, 66);
}

// The story: a holder is overtaken while it works, and does not know.
TEST_F(StoreCommandsTest, AnOvertakenHolderIsRefusedInsideRun) {
  Running slow =
      start(Words{"run", "ledger"} +
            shell("$H open ledger && $H put ledger 100 && echo $HOLDFAST_TOKEN > $D/token"
                  " && until [ -e $D/go ]; do :; done; $H put ledger late"));
  const std::string token = await("token");
  const std::string next = std::to_string(std::stoull(token) + 1);
  ASSERT_EQ(run({"open", "ledger", "--token", next}).code, 0);
  ASSERT_EQ(run({"put", "ledger", "20", "--token", next}).code, 0);
  write("go", "");
  const Finished finished = slow.wait();
  EXPECT_EQ(finished.code, 78);
  EXPECT_TRUE(contains(finished.err, next)) << finished.err;
  EXPECT_EQ(get("ledger"), "20");
}

TEST_F(StoreCommandsTest, AnExpiredLeaseIsFencedByTheNextOne) {
  const auto old = run_json({"acquire", "ledger", "--ttl", "100ms"});
  EXPECT_EQ(run(Launch{.arguments = {"put", "ledger", "1"}, .environment = inside_run(old)}).code,
            0);
  const auto next = run_json({"acquire", "ledger"});
  EXPECT_EQ(run(Launch{.arguments = {"open", "ledger"}, .environment = inside_run(next)}).code, 0);
  EXPECT_EQ(run(Launch{.arguments = {"put", "ledger", "2"}, .environment = inside_run(old)}).code,
            78);
  EXPECT_EQ(get("ledger"), "1");
}

TEST_F(StoreCommandsTest, AnotherLockIsTheWrongDomainUntilARebase) {
  ASSERT_EQ(run({"put", "r", "1", "--token", "50"}).code, 0);
  const Words by_another{"put", "r", "2", "--token", "60", "--lock", "new"};
  EXPECT_EQ(run_json(by_another, 78).at("code").as_string(), "wrong_domain");
  const auto moved = run_json({"store", "rebase", "r", "--lock", "new", "--why", "ticket 812"});
  EXPECT_EQ(moved.at("lock").as_string(), "new");
  EXPECT_EQ(get("r"), "1") << "the value stays";
  EXPECT_EQ(run(by_another).code, 0);
  EXPECT_EQ(run({"put", "r", "3", "--token", "70"}).code, 78) << "the old lock";
  const std::string audit = read("state/audit.log");
  EXPECT_TRUE(contains(audit, "ticket 812") && contains(audit, "rebase")) << audit;
}

TEST_F(StoreCommandsTest, ARebaseMayNameALockOfAnotherEngine) {
  ASSERT_EQ(run({"put", "r", "1", "--token", "50"}).code, 0);
  const std::string elsewhere = "local:" + path("elsewhere");
  EXPECT_EQ(run({"store", "rebase", "r", "--lock-engine", elsewhere, "--why", "moved"}).code, 0);
  EXPECT_EQ(run({"put", "r", "2", "--token", "60"}).code, 78);
  const auto lease = run_json({"acquire", "r", "--engine", elsewhere});
  const Finished put =
      run(Launch{.arguments = {"put", "r", "2"}, .environment = inside_run(lease)});
  EXPECT_EQ(put.code, 0) << put.err;
}

TEST_F(StoreCommandsTest, APrefixIsPartOfTheKey) {
  const std::string staging = engine() + "?prefix=staging/";
  EXPECT_EQ(run({"put", "k", "1", "--engine", staging}).code, 0);
  EXPECT_EQ(run({"get", "k"}).code, 66);
  EXPECT_EQ(get("staging/k"), "1");
}

}  // namespace
}  // namespace holdfast::test
