// acquire, renew, release, ls, show, watch, break and check-sequencer.

#include <fcntl.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <set>

#include "tests/command/harness.h"

namespace holdfast::test {
namespace {

class LeaseCommandsTest : public CommandTest {
 protected:
  std::string acquire(const std::string& name, const std::string& ttl = "1h") {
    return std::string{run_json({"acquire", name, "--ttl", ttl}).at("owner").as_string()};
  }

  static const std::set<std::string>& contender_keys() {
    static const std::set<std::string> names{
        "owner_fp", "token", "host", "pid", "label", "since_ms", "ttl_ms", "foreign"};
    return names;
  }
};

TEST_F(LeaseCommandsTest, AcquirePrintsWhatAScriptNeeds) {
  const auto lease = run_json({"acquire", "x", "--ttl", "5m", "--label", "me"});
  EXPECT_EQ(
      keys(lease),
      (std::set<std::string>{
          "name", "mode", "token", "owner", "ttl_ms", "valid_for_ms", "engine", "sequencer"}));
  EXPECT_EQ(lease.at("name").as_string(), "x");
  EXPECT_EQ(lease.at("mode").as_string(), "exclusive");
  EXPECT_EQ(lease.at("owner").as_string().size(), 32U);
  EXPECT_EQ(lease.at("ttl_ms").as_int64(), 300'000);
  EXPECT_LE(lease.at("valid_for_ms").as_int64(), 297'000);
  EXPECT_GT(lease.at("valid_for_ms").as_int64(), 200'000);
  EXPECT_EQ(lease.at("engine").as_string(), engine());

  const Finished human = run({"acquire", "y"});
  EXPECT_EQ(human.code, 0);
  for (const char* field : {"token ", "owner ", "deadline "}) {
    EXPECT_NE(human.out.find(field), std::string::npos) << human.out;
  }
}

TEST_F(LeaseCommandsTest, ADetachedLeaseOutlivesItsCommand) {
  const std::string owner = acquire("x");
  EXPECT_EQ(run({"acquire", "x", "--wait", "0"}).code, 75);
  const auto renewed = run_json({"renew", "x", "--owner", owner, "--ttl", "2h"});
  EXPECT_EQ(keys(renewed), (std::set<std::string>{"name", "ttl_ms", "valid_for_ms", "engine"}));
  EXPECT_EQ(renewed.at("ttl_ms").as_int64(), 7'200'000);
  EXPECT_GT(renewed.at("valid_for_ms").as_int64(), 3'600'000);
  const auto released = run_json({"release", "x", "--owner", owner});
  EXPECT_EQ(released.at("outcome").as_string(), "released");
  EXPECT_EQ(run({"acquire", "x", "--wait", "0"}).code, 0);
}

TEST_F(LeaseCommandsTest, ALostLeaseSaysSo) {
  const std::string owner = acquire("x", "100ms");
  const std::string next = std::string{run_json({"acquire", "x"}).at("owner").as_string()};
  EXPECT_NE(owner, next);
  const auto renewed = run_json({"renew", "x", "--owner", owner}, 76);
  EXPECT_EQ(renewed.at("error").at("code").as_string(), "lost");
  EXPECT_EQ(run({"release", "x", "--owner", owner}).code, 76);
  EXPECT_EQ(run({"release", "x", "--owner", next}).code, 0);
}

TEST_F(LeaseCommandsTest, LsListsWhatIsHeld) {
  EXPECT_TRUE(run_json({"ls"}).at("locks").as_array().empty());
  acquire("b");
  acquire("a/1");
  acquire("a/2");
  const auto all = run_json({"ls"});
  ASSERT_EQ(all.at("locks").as_array().size(), 3U);
  const auto& first = all.at("locks").as_array().at(0).as_object();
  EXPECT_EQ(keys(first), (std::set<std::string>{"name", "mode", "holders", "waiters", "token"}));
  EXPECT_EQ(first.at("name").as_string(), "a/1");
  EXPECT_EQ(first.at("holders").to_number<int>(), 1);
  EXPECT_EQ(first.at("waiters").to_number<int>(), 0);
  EXPECT_EQ(run_json({"ls", "a/"}).at("locks").as_array().size(), 2U);
  const Finished human = run({"ls", "b"});
  EXPECT_NE(human.out.find("exclusive"), std::string::npos) << human.out;
}

TEST_F(LeaseCommandsTest, ShowTellsHoldersWaitersAndTheEngine) {
  const auto unused = run_json({"show", "x"});
  EXPECT_EQ(keys(unused),
            (std::set<std::string>{
                "name", "mode", "permits", "holders", "waiters", "delay_ms", "engine"}));
  EXPECT_TRUE(unused.at("holders").as_array().empty());
  const std::string owner = acquire("x");
  Running waiter = start({"acquire", "x", "--label", "second"});
  await_waiters("x", 1);
  const auto shown = run_json({"show", "x"});
  const auto& holder = shown.at("holders").as_array().at(0).as_object();
  EXPECT_EQ(keys(holder), contender_keys());
  EXPECT_NE(holder.at("owner_fp").as_string(), owner) << "the owner is a secret";
  EXPECT_EQ(shown.at("waiters").as_array().at(0).at("label").as_string(), "second");
  const Finished human = run({"show", "x"});
  EXPECT_NE(human.out.find(engine()), std::string::npos) << human.out;
  EXPECT_NE(human.out.find("waiting"), std::string::npos) << human.out;
  EXPECT_EQ(human.out.find(owner), std::string::npos);
  EXPECT_EQ(run({"release", "x", "--owner", owner}).code, 0);
  EXPECT_EQ(waiter.wait().code, 0);
}

TEST_F(LeaseCommandsTest, NamesOfCommandsAreNamesOfLocksToo) {
  for (const char* name : {"ls", "run", "show", "a b", "gr\xc3\xbc\xc3\x9f"}) {
    const auto lease = run_json({"acquire", name});
    EXPECT_EQ(lease.at("name").as_string(), name);
  }
  EXPECT_EQ(run_json({"show", "--", "-odd"}).at("name").as_string(), "-odd");
}

TEST_F(LeaseCommandsTest, WatchTellsEveryChange) {
  const std::string first = acquire("a/x");
  Running watch = start({"watch", "a/", "--json"});
  const auto lines = [&] { return read_lines("holdfast.2.out"); };
  eventually("what is held", [&] { return lines().size() == 1; });
  acquire("b");
  EXPECT_EQ(run({"release", "a/x", "--owner", first}).code, 0);
  eventually("the release", [&] { return lines().size() == 2; });
  acquire("a/y");
  eventually("the grant", [&] { return lines().size() == 3; });
  watch.signal(SIGINT);
  EXPECT_EQ(watch.wait().code, 130);
  const auto granted = parse_object(lines().at(0));
  EXPECT_EQ(granted.at("event").as_string(), "granted");
  EXPECT_EQ(granted.at("name").as_string(), "a/x");
  EXPECT_EQ(parse_object(lines().at(1)).at("event").as_string(), "released");
  EXPECT_EQ(parse_object(lines().at(2)).at("name").as_string(), "a/y");
}

TEST_F(LeaseCommandsTest, BreakTakesTheLockAwayOnTheRecord) {
  const std::string owner = acquire("x");
  const auto broken = run_json({"break", "x", "--why", "ticket 812"});
  EXPECT_EQ(keys(broken), (std::set<std::string>{"name", "holders", "engine"}));
  ASSERT_EQ(broken.at("holders").as_array().size(), 1U);
  EXPECT_EQ(keys(broken.at("holders").as_array().at(0).as_object()), contender_keys());
  EXPECT_EQ(run({"release", "x", "--owner", owner}).code, 76);
  EXPECT_EQ(run_json({"break", "x"}, 66).at("error").at("code").as_string(), "not_found");
  std::string record;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{state_directory()}) {
    if (entry.is_regular_file()) record += read("state/" + entry.path().filename().string());
  }
  EXPECT_NE(record.find("ticket 812"), std::string::npos);
}

TEST_F(LeaseCommandsTest, ASequencerStandsWhileItsLeaseDoes) {
  const auto lease = run_json({"acquire", "x"});
  const std::string sequencer{lease.at("sequencer").as_string()};
  const auto good = run_json({"check-sequencer", sequencer});
  EXPECT_TRUE(good.at("stands").as_bool());
  const std::string owner{lease.at("owner").as_string()};
  EXPECT_EQ(run({"release", "x", "--owner", owner}).code, 0);
  const auto bad = run_json({"check-sequencer", sequencer}, 76);
  EXPECT_FALSE(bad.at("stands").as_bool());
  EXPECT_FALSE(bad.at("reason").as_string().empty());
  EXPECT_EQ(run({"check-sequencer", "nonsense"}).code, 65);
}

TEST_F(LeaseCommandsTest, AnInterruptedWaitHoldsNothing) {
  const std::string owner = acquire("x");
  Running waiter = start({"acquire", "x"});
  await_waiters("x", 1);
  waiter.signal(SIGINT);
  EXPECT_EQ(waiter.wait().code, 130);
  await_waiters("x", 0);
}

TEST_F(LeaseCommandsTest, ALeaseThatCannotBePrintedIsGivenBack) {
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  const Finished finished = run(Launch{.arguments = {"acquire", "x"}, .descriptors = {{1, full}}});
  close(full);
  EXPECT_EQ(finished.code, 74);
  EXPECT_NE(finished.err.find("could not be written"), std::string::npos) << finished.err;
  EXPECT_EQ(run({"acquire", "x", "--wait", "0"}).code, 0);
}

TEST_F(LeaseCommandsTest, TheOptionOutranksTheEnvironment) {
  const std::string other = "local:" + path("other");
  const auto lease = run_json({"acquire", "x", "--engine", other});
  EXPECT_EQ(lease.at("engine").as_string(), other);
  EXPECT_EQ(run({"acquire", "x", "--wait", "0"}).code, 0) << "another engine, another lock";
}

TEST_F(LeaseCommandsTest, LockDelayKeepsAVanishedHoldersLock) {
  ASSERT_EQ(run({"acquire", "x", "--ttl", "100ms", "--lock-delay", "1h"}).code, 0);
  eventually("the delay", [&] {
    return run_json({"show", "x"}).at("delay_ms").to_number<std::int64_t>() > 0;
  });
  EXPECT_EQ(run({"acquire", "x", "--wait", "0"}).code, 75);
}

}  // namespace
}  // namespace holdfast::test
