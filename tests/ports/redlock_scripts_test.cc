// The scripts that Redlock runs at each node.

#include "engines/redlock/redlock_scripts.h"

#include "engines/redis/redis_scripts.h"
#include "tests/ports/redis_bed.h"

namespace holdfast::ports {
namespace {

using redlock::kConfirmScript;
using redlock::kExtendScript;
using redlock::kRepairScript;
using redlock::kTakeScript;

class RedlockScriptsTest : public RedisPortTest {
 protected:
  Reply take(const std::string& owner) {
    return eval(kTakeScript, {"lock", "counter", "high"}, {owner, "60000", "900000", "note"});
  }
  Reply repair(const std::string& owner, const std::string& token) {
    return eval(kRepairScript, {"lock", "counter", "high"}, {owner, "60000", "900000", token});
  }
  void SetUp() override {
    RedisPortTest::SetUp();
    command({"SET", "high", "0"});
  }
  Reply confirm(const std::string& owner, const std::string& token) {
    return eval(kConfirmScript, {"lock", "counter", "high"}, {owner, token, "900000"});
  }
  Reply value(const std::string& key) { return command({"GET", key}); }
  static Reply granted(const std::string& grant) {
    return Reply::of_array({Reply::of_integer(1), Reply::of_text(grant)});
  }
  const Reply kNo = Reply::of_integer(0);
  const Reply kYes = Reply::of_integer(1);
};

TEST_P(RedlockScriptsTest, TakesAndCountsAndAnswersTheSameAgain) {
  EXPECT_EQ(take("alice"), granted("1"));
  EXPECT_EQ(take("alice"), granted("1"));
  EXPECT_EQ(value("lock").text, "alice:1:note");
  EXPECT_EQ(value("counter").text, "1");
  EXPECT_EQ(value("high").text, "1");
  EXPECT_LE(ttl_ms("lock"), 60'000);
  EXPECT_GT(ttl_ms("counter"), 60'000);
  EXPECT_EQ(ttl_ms("high"), -1);
}

TEST_P(RedlockScriptsTest, RefusesOthersWithTheHolderAndWhatItHasLeft) {
  take("alice");
  const Reply refused = take("bob");
  ASSERT_EQ(refused.items.size(), 3U) << testing::PrintToString(refused);
  EXPECT_EQ(refused.items[0], kNo);
  EXPECT_EQ(refused.items[1].text, "alice:1:note");
  EXPECT_GT(refused.items[2].integer, 0);
}

TEST_P(RedlockScriptsTest, TheHighWaterMarkStandsInForAForgottenCounter) {
  command({"SET", "high", "41"});
  EXPECT_EQ(take("alice"), granted("42"));
  EXPECT_EQ(value("high").text, "42");
  command({"DEL", "lock"});
  command({"SET", "counter", "7"});
  EXPECT_EQ(take("bob"), granted("8"));
  EXPECT_EQ(value("high").text, "42") << "it never goes down";
}

TEST_P(RedlockScriptsTest, LargeGrantsAreExactAndEnd) {
  command({"SET", "counter", "9007199254740990"});
  EXPECT_EQ(take("alice"), granted("9007199254740991"));
  command({"DEL", "lock"});
  EXPECT_EQ(take("bob"), Reply::of_error("HOLDFAST the tokens are used up"));
}

TEST_P(RedlockScriptsTest, RefusesDamagedCounters) {
  const Reply damaged = Reply::of_error("HOLDFAST the token counter is not a number");
  for (const char* const no_count : {"seven", "nan", "-1"}) {
    command({"SET", "counter", no_count});
    EXPECT_EQ(take("alice"), damaged) << no_count;
    command({"DEL", "counter"});
    command({"SET", "high", no_count});
    EXPECT_EQ(take("alice"), damaged) << no_count;
    command({"SET", "high", "0"});
  }
  command({"DEL", "high"});
  bed_->plant_list("high");
  EXPECT_TRUE(take("alice").text.starts_with("WRONGTYPE"));
  bed_->plant_list("lock");
  EXPECT_TRUE(take("alice").text.starts_with("WRONGTYPE"));
  EXPECT_TRUE(confirm("alice", "1").text.starts_with("WRONGTYPE"));
}

TEST_P(RedlockScriptsTest, ConfirmsNothingOnDamagedCounters) {
  const Reply damaged = Reply::of_error("HOLDFAST the token counter is not a number");
  take("alice");
  command({"SET", "counter", "seven"});
  EXPECT_EQ(confirm("alice", "9"), damaged);
  command({"SET", "counter", "1"});
  command({"SET", "high", "nan"});
  EXPECT_EQ(confirm("alice", "9"), damaged);
  EXPECT_EQ(value("counter").text, "1");
}

TEST_P(RedlockScriptsTest, ConfirmsAndRaisesBothCounters) {
  take("alice");
  EXPECT_EQ(confirm("alice", "9"), kYes);
  EXPECT_EQ(value("counter").text, "9");
  EXPECT_EQ(value("high").text, "9");
  EXPECT_EQ(confirm("alice", "9"), kYes);
  EXPECT_EQ(confirm("alice", "5"), kYes) << "not below its grant";
  EXPECT_EQ(value("counter").text, "9");
  EXPECT_EQ(value("lock").text, "alice:1:note");
}

TEST_P(RedlockScriptsTest, ANodeThatIsNotOfTheSetGivesNothing) {
  take("alice");
  command({"DEL", "high"});
  EXPECT_TRUE(confirm("alice", "9").text.starts_with("HOLDFAST-NODES"));
  const Reply extended = eval(kExtendScript, {"high", "lock", "broken"}, {"60000", "alice"});
  EXPECT_TRUE(extended.text.starts_with("HOLDFAST-NODES"));
  command({"DEL", "lock"});
  EXPECT_TRUE(take("alice").text.starts_with("HOLDFAST-NODES"));
  EXPECT_TRUE(repair("alice", "9").text.starts_with("HOLDFAST-NODES"));
  EXPECT_EQ(command({"EXISTS", "lock"}), kNo);
}

TEST_P(RedlockScriptsTest, RepairsAFreeLockAndNeverGoesBack) {
  EXPECT_EQ(repair("alice", "7"), kYes);
  EXPECT_EQ(value("lock").text, "alice:7:");
  EXPECT_EQ(value("counter").text, "7");
  EXPECT_EQ(value("high").text, "7");
  EXPECT_EQ(repair("alice", "7"), kYes) << "it has it already";
  EXPECT_EQ(repair("bob", "9"), kNo) << "somebody else has it";
  command({"DEL", "lock"});
  EXPECT_EQ(repair("alice", "5"), kYes);
  EXPECT_EQ(value("lock").text, "alice:8:") << "it counts like any other grant";
  EXPECT_EQ(take("bob").items.at(0), kNo);
}

TEST_P(RedlockScriptsTest, ConfirmsNeitherForOthersNorBelowTheGrant) {
  EXPECT_EQ(confirm("alice", "9"), kNo);
  command({"SET", "high", "5"});
  take("alice");
  EXPECT_EQ(confirm("bob", "9"), kNo);
  EXPECT_EQ(confirm("alice", "5"), kNo);
  EXPECT_EQ(confirm("alice", "6"), kYes);
  EXPECT_EQ(value("high").text, "6");
}

TEST_P(RedlockScriptsTest, ConfirmsLargeTokensExactly) {
  take("alice");
  EXPECT_EQ(confirm("alice", "9007199254740991"), kYes);
  EXPECT_EQ(value("counter").text, "9007199254740991");
}

TEST_P(RedlockScriptsTest, ExtendsInABatchWhatIsStillOursAndCreatesNothing) {
  command({"SET", "a", "alice:1", "PX", "10000"});
  bed_->plant_list("b");
  EXPECT_EQ(eval(kExtendScript,
                 {"high", "a", "x", "b", "x", "c", "x"},
                 {"600000", "alice", "alice", "alice"}),
            Reply::of_array({kYes, kNo, kNo}));
  command({"SET", "x", "alice"});
  EXPECT_EQ(eval(kExtendScript, {"high", "c", "x"}, {"600000", "alice"}),
            Reply::of_array({Reply::of_integer(2)}))
      << "taken away by force";
  EXPECT_GT(ttl_ms("a"), 10'000);
  EXPECT_EQ(command({"EXISTS", "c"}), kNo);
  EXPECT_EQ(eval(kExtendScript, {"high", "a", "y"}, {"900000", "ali"}), Reply::of_array({kNo}));
  EXPECT_LE(ttl_ms("a"), 600'000);
}

TEST_P(RedlockScriptsTest, IsReleasedByTheSameScriptAsOnOneServer) {
  take("alice");
  EXPECT_EQ(eval(redlock::kRemoveScript, {"lock"}, {"bob"}), kNo);
  EXPECT_EQ(eval(redlock::kRemoveScript, {"lock"}, {"alice"}), kYes);
  EXPECT_EQ(take("bob"), granted("2"));
}

HOLDFAST_ON_BOTH_BEDS(RedlockScriptsTest);

}  // namespace
}  // namespace holdfast::ports
