// acquire and run with --writer, upgrade and downgrade: no other writer comes between.

#include <gtest/gtest.h>

#include <csignal>

#include "tests/command/harness.h"

namespace holdfast::test {
namespace {

class ReadWriteCommandsTest : public CommandTest {
 protected:
  static std::string text(const boost::json::object& object, const char* field) {
    return std::string{object.at(field).as_string()};
  }
  std::string reader() {
    return text(run_json({"acquire", "x", "--shared", "--ttl", "1h"}), "owner");
  }
  /// Those who hold it.
  std::size_t holders(const std::string& name) {
    return run_json({"show", name}).at("holders").as_array().size();
  }
  Words upgrade(const std::string& owner, const std::string& wait) const {
    return {"upgrade", "x", "--owner", owner, "--ttl", "1h", "--wait", wait};
  }
};

TEST_F(ReadWriteCommandsTest, UpgradePrintsWhatIsNeededToGiveItUp) {
  const auto writer = run_json(upgrade(reader(), "0"));
  EXPECT_EQ(keys(writer),
            (std::set<std::string>{"name",
                                   "mode",
                                   "token",
                                   "owner",
                                   "intent_owner",
                                   "ttl_ms",
                                   "valid_for_ms",
                                   "engine",
                                   "sequencer"}));
  EXPECT_EQ(text(writer, "mode"), "exclusive");
  EXPECT_EQ(run({"acquire", "x", "--shared", "--wait", "0"}).code, 75);
  EXPECT_EQ(run({"release", "x", "--owner", text(writer, "owner")}).code, 0);
  EXPECT_EQ(run({"release", "x~intent", "--owner", text(writer, "intent_owner")}).code, 0);
  EXPECT_TRUE(run_json({"ls"}).at("locks").as_array().empty());
}

TEST_F(ReadWriteCommandsTest, DowngradeMakesAReaderOfAWriter) {
  const auto writer = run_json({"acquire", "x", "--writer", "--ttl", "1h"});
  const auto reading = run_json({"downgrade",
                                 "x",
                                 "--owner",
                                 text(writer, "owner"),
                                 "--intent",
                                 text(writer, "intent_owner")});
  EXPECT_EQ(text(reading, "mode"), "shared");
  EXPECT_FALSE(reading.contains("intent_owner"));
  EXPECT_EQ(holders("x~intent"), 0U);
  EXPECT_EQ(run({"acquire", "x", "--shared", "--wait", "0"}).code, 0);
}

TEST_F(ReadWriteCommandsTest, TheSecondToUpgradeIsRefusedWithWhoIsInTheWayAndReadsOn) {
  const std::string first = reader();
  const std::string second = reader();
  Running upgrading = start(upgrade(first, "forever") + Words{"--label", "the first"});
  await_waiters("x", 1);
  const Finished refused = run(upgrade(second, "forever"));
  EXPECT_EQ(refused.code, 75);
  EXPECT_TRUE(refused.out.empty()) << refused.out;
  EXPECT_NE(refused.err.find("the first"), std::string::npos) << refused.err;
  EXPECT_EQ(run({"renew", "x", "--owner", second}).code, 0);
  EXPECT_EQ(run({"release", "x", "--owner", second}).code, 0);
  EXPECT_EQ(upgrading.wait().code, 0);
}

TEST_F(ReadWriteCommandsTest, AnUpgradeInVainPrintsTheLeaseThatTheReaderIsNow) {
  const std::string first = reader();
  reader();
  const Finished refused = run(upgrade(first, "100ms") + Words{"--json"});
  EXPECT_EQ(refused.code, 75);
  const auto again = parse_object(refused.out);
  EXPECT_EQ(text(again, "mode"), "shared");
  EXPECT_EQ(text(parse_object(refused.err).at("error").as_object(), "code"), "timeout");
  EXPECT_EQ(holders("x"), 2U);
  EXPECT_EQ(run({"release", "x", "--owner", first}).code, 76);
  EXPECT_EQ(run({"release", "x", "--owner", text(again, "owner")}).code, 0);
}

TEST_F(ReadWriteCommandsTest, AnInterruptedUpgradeLeavesAReader) {
  const std::string first = reader();
  reader();
  Running upgrading = start(upgrade(first, "forever") + Words{"--json"});
  await_waiters("x", 1);
  upgrading.signal(SIGINT);
  const Finished ended = upgrading.wait();
  EXPECT_EQ(ended.code, 130);
  EXPECT_EQ(run({"renew", "x", "--owner", text(parse_object(ended.out), "owner")}).code, 0);
  EXPECT_EQ(holders("x~intent"), 0U);
}

TEST_F(ReadWriteCommandsTest, AReaderThatWasLostIsNotUpgraded) {
  const std::string owner = reader();
  EXPECT_EQ(run({"break", "x"}).code, 0);
  const auto lost = run_json({"upgrade", "x", "--owner", owner}, 76);
  EXPECT_EQ(text(lost.at("error").as_object(), "code"), "lost");
  EXPECT_TRUE(run_json({"ls"}).at("locks").as_array().empty());
}

TEST_F(ReadWriteCommandsTest, AWriterOfAShellDoesNotComeBetweenAnUpgrade) {
  const std::string first = reader();
  const std::string second = reader();
  Running upgrading = start(upgrade(first, "forever") + Words{"--json"});
  await_waiters("x", 1);
  Running writer = start(Words{"run", "x", "--writer"} + shell("echo wrote > $D/wrote"));
  await_waiters("x~intent", 1);
  EXPECT_EQ(run({"release", "x", "--owner", second}).code, 0);
  const auto upgraded = parse_object(upgrading.wait().out);
  EXPECT_FALSE(exists("wrote"));
  EXPECT_EQ(run({"release", "x", "--owner", text(upgraded, "owner")}).code, 0);
  EXPECT_FALSE(exists("wrote"));
  EXPECT_EQ(run({"release", "x~intent", "--owner", text(upgraded, "intent_owner")}).code, 0);
  EXPECT_EQ(writer.wait().code, 0);
  EXPECT_TRUE(exists("wrote"));
}

TEST_F(ReadWriteCommandsTest, RunAsAWriterHoldsLockAndIntentAndGivesBothUp) {
  const Finished ran =
      run(Words{"run", "x", "--writer"} + shell("echo $HOLDFAST_LOCK; $H ls | wc -l"));
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "x\n3\n");
  EXPECT_TRUE(run_json({"ls"}).at("locks").as_array().empty());
}

TEST_F(ReadWriteCommandsTest, WhileAReaderReadsAWriterIsRefusedAndKeepsNoIntent) {
  reader();
  const Finished refused = run({"run", "x", "--writer", "--wait", "0", "--", "true"});
  EXPECT_EQ(refused.code, 75);
  EXPECT_NE(refused.err.find("'x' is held by"), std::string::npos) << refused.err;
  EXPECT_EQ(holders("x~intent"), 0U);
}

}  // namespace
}  // namespace holdfast::test
