// The scripts of the single-server engine.

#include "engines/redis/redis_scripts.h"
#include "tests/ports/redis_bed.h"

namespace holdfast::ports {
namespace {

using redis::kAcquireScript;
using redis::kReleaseScript;
using redis::kRenewScript;

class LockScriptsTest : public RedisPortTest {
 protected:
  const std::vector<std::string> kLockKeys{"lock", "counter", "queue", "waiters", "holders"};

  Reply acquire(const std::string& owner, const std::string& ttl = "60000") {
    return eval(kAcquireScript, kLockKeys, {owner, ttl, "note", "7", ""});
  }
  /// As acquire(), and waits when the lock is taken.
  Reply queue_up(const std::string& owner, const std::string& ttl = "60000") {
    return eval(kAcquireScript, kLockKeys, {owner, ttl, "note", "7", owner + "-channel"});
  }
  Reply release(const std::string& owner) { return eval(kReleaseScript, kLockKeys, {owner}); }
  /// The owner in the lock's value.
  std::string holder() {
    const std::string value = command({"GET", "lock"}).text;
    return value.substr(0, value.find(':'));
  }
  static Reply granted(const std::string& token) {
    return Reply::of_array({Reply::of_integer(1), Reply::of_text(token)});
  }
  static Reply fates(std::int64_t first, std::int64_t second, std::int64_t third) {
    return Reply::of_array(
        {Reply::of_integer(first), Reply::of_integer(second), Reply::of_integer(third)});
  }
};

TEST_P(LockScriptsTest, GrantsWithATokenThatIsTheTimeInMicroseconds) {
  const Reply before = command({"TIME"});
  const Reply reply = acquire("alice");
  ASSERT_EQ(reply.items.size(), 2U) << testing::PrintToString(reply);
  EXPECT_EQ(reply.items[0], Reply::of_integer(1));
  const std::string& token = reply.items[1].text;
  EXPECT_EQ(token.size(), 16U);
  EXPECT_GE(std::stoull(token),
            std::stoull(before.items[0].text) * 1'000'000 + std::stoull(before.items[1].text));
  EXPECT_EQ(command({"GET", "lock"}).text, "alice:" + token + ":note");
  EXPECT_EQ(command({"GET", "counter"}).text, token);
  EXPECT_EQ(ttl_ms("counter"), -1);
  EXPECT_LE(ttl_ms("lock"), 60'000);
  EXPECT_GT(ttl_ms("lock"), 30'000);
}

TEST_P(LockScriptsTest, GrantsAgainToTheSameOwnerAndBeginsTheTtlAnew) {
  const Reply first = acquire("alice", "60000");
  EXPECT_EQ(acquire("alice", "900000"), first);
  EXPECT_GT(ttl_ms("lock"), 60'000);
}

TEST_P(LockScriptsTest, RefusesOthersWithTheHolderAndWhatItHasLeft) {
  const Reply first = acquire("alice");
  const Reply second = acquire("bob");
  ASSERT_EQ(second.items.size(), 4U) << testing::PrintToString(second);
  EXPECT_EQ(second.items[0], Reply::of_integer(0));
  EXPECT_EQ(second.items[1].text, "alice:" + first.items[1].text + ":note");
  EXPECT_GT(second.items[2].integer, 0);
  EXPECT_LE(second.items[2].integer, 60'000);
  EXPECT_EQ(acquire("ali").items[0], Reply::of_integer(0)) << "a prefix of the owner is not it";
}

TEST_P(LockScriptsTest, CountsOnExactlyWhereTheCounterIsAheadOfTheTime) {
  command({"SET", "counter", "9007199254740989"});
  EXPECT_EQ(acquire("alice"), granted("9007199254740990"));
  EXPECT_EQ(release("alice"), Reply::of_integer(1));
  EXPECT_EQ(acquire("bob"), granted("9007199254740991"));
  EXPECT_EQ(release("bob"), Reply::of_integer(1));
  EXPECT_EQ(acquire("carol"), Reply::of_error("HOLDFAST the tokens are used up"));
  EXPECT_EQ(command({"EXISTS", "lock"}), Reply::of_integer(0));
}

TEST_P(LockScriptsTest, RefusesADamagedCounter) {
  const Reply damaged = Reply::of_error("HOLDFAST the token counter is not a number");
  for (const char* const no_count : {"seven", "nan", "-1"}) {
    command({"SET", "counter", no_count});
    EXPECT_EQ(acquire("alice"), damaged) << no_count;
  }
  bed_->plant_list("counter");
  EXPECT_TRUE(acquire("alice").text.starts_with("WRONGTYPE Operation against a key holding"));
  EXPECT_EQ(command({"EXISTS", "lock"}), Reply::of_integer(0));
}

TEST_P(LockScriptsTest, RefusesAKeyThatIsNoString) {
  bed_->plant_list("lock");
  const Reply taken = acquire("alice");
  EXPECT_EQ(taken.kind, Reply::Kind::error);
  EXPECT_TRUE(taken.text.starts_with("WRONGTYPE Operation against a key holding")) << taken.text;
  EXPECT_EQ(release("alice").kind, Reply::Kind::error);
}

TEST_P(LockScriptsTest, ALockEndsAfterItsTtl) {
  const Reply first = acquire("alice", "30");
  ASSERT_TRUE(forgotten("lock"));
  const Reply second = acquire("bob");
  ASSERT_EQ(second.items[0], Reply::of_integer(1));
  EXPECT_GT(std::stoull(second.items[1].text), std::stoull(first.items[1].text));
  EXPECT_EQ(release("alice"), Reply::of_integer(0));
}

TEST_P(LockScriptsTest, RefusesATtlThatIsNone) {
  for (const char* ttl : {"0", "-1", "x", "", "1.5", "9223372036854775807"}) {
    EXPECT_EQ(acquire("alice", ttl).kind, Reply::Kind::error) << ttl;
    EXPECT_EQ(command({"EXISTS", "lock"}), Reply::of_integer(0)) << ttl;
  }
}

TEST_P(LockScriptsTest, ReleasesOnlyForTheOwner) {
  EXPECT_EQ(release("alice"), Reply::of_integer(0));
  acquire("alice");
  EXPECT_EQ(release("bob"), Reply::of_integer(0));
  EXPECT_EQ(release("ali"), Reply::of_integer(0));
  EXPECT_EQ(release("alice"), Reply::of_integer(1));
  EXPECT_EQ(release("alice"), Reply::of_integer(0));
  EXPECT_EQ(command({"EXISTS", "lock"}), Reply::of_integer(0));
}

TEST_P(LockScriptsTest, RenewsInABatchWhatIsStillOursAndCreatesNothing) {
  const std::vector<std::string> keys{"a", "a-broken", "b", "b-broken", "c", "c-broken"};
  command({"SET", "a", "alice:1:note", "PX", "10000"});
  bed_->plant_list("b");
  EXPECT_EQ(eval(kRenewScript, keys, {"600000", "alice:1:", "alice:2:", "alice:3:"}),
            fates(1, 0, 0));
  EXPECT_GT(ttl_ms("a"), 10'000);
  EXPECT_EQ(command({"EXISTS", "c"}), Reply::of_integer(0));
  command({"SET", "c", "bob:9:", "PX", "10000"});
  command({"SET", "c-broken", "alice:3:"});
  EXPECT_EQ(eval(kRenewScript, keys, {"900000", "alice:7:", "alice:2:", "alice:3:"}),
            fates(0, 0, 2));
  EXPECT_LE(ttl_ms("a"), 600'000);
  EXPECT_LE(ttl_ms("c"), 10'000);
  EXPECT_EQ(eval(kRenewScript, {}, {"600000"}), Reply::of_array({}));
}

TEST_P(LockScriptsTest, AForeignLockExcludesUsAndOursExcludesThem) {
  const std::vector<std::string> foreign{"SET", "lock", "their-secret", "NX", "PX", "60000"};
  EXPECT_EQ(command(foreign), kOk);
  const Reply refused = acquire("alice");
  ASSERT_EQ(refused.items.size(), 4U);
  EXPECT_EQ(refused.items[1].text, "their-secret");
  EXPECT_EQ(release("alice"), Reply::of_integer(0));
  command({"DEL", "lock"});
  EXPECT_EQ(acquire("alice").items[0], Reply::of_integer(1));
  EXPECT_EQ(command(foreign), kNil);
}

TEST_P(LockScriptsTest, AForeignLockWithoutTtlIsSaidToHaveNone) {
  command({"SET", "lock", "theirs"});
  EXPECT_EQ(acquire("alice"),
            Reply::of_array({Reply::of_integer(0),
                             Reply::of_text("theirs"),
                             Reply::of_integer(-1),
                             Reply::of_integer(0)}));
}

TEST_P(LockScriptsTest, AReleasedLockGoesToTheFirstWhoWaitsAndTellsItAlone) {
  const std::string before = acquire("alice").items[1].text;
  const auto bob = bed_->listen("bob-channel");
  const auto carol = bed_->listen("carol-channel");
  EXPECT_EQ(queue_up("bob").items[3], Reply::of_integer(1)) << "nobody is before it";
  EXPECT_EQ(queue_up("carol").items[3], Reply::of_integer(0));
  EXPECT_EQ(release("alice"), Reply::of_integer(1));
  EXPECT_EQ(holder(), "bob");
  const std::string token = queue_up("bob").items[1].text;
  EXPECT_EQ(bob->next(), "bob " + token + " 7");
  EXPECT_GT(std::stoull(token), std::stoull(before));
  EXPECT_EQ(release("bob"), Reply::of_integer(1));
  EXPECT_EQ(carol->next(), "carol " + queue_up("carol").items[1].text + " 7");
  EXPECT_EQ(release("carol"), Reply::of_integer(1));
  EXPECT_EQ(command({"EXISTS", "lock", "queue", "waiters"}), Reply::of_integer(0));
}

TEST_P(LockScriptsTest, NobodyOvertakesThoseWhoWait) {
  acquire("alice");
  queue_up("bob");
  command({"DEL", "lock"});
  EXPECT_EQ(acquire("carol").items[0], Reply::of_integer(0));
  EXPECT_EQ(holder(), "bob");
}

TEST_P(LockScriptsTest, AWaiterThatDoesNotRefreshIsPassedOver) {
  acquire("alice");
  queue_up("bob", "30");
  queue_up("carol");
  while (queue_up("carol").items[3] == Reply::of_integer(0)) bed_->let_time_pass();
  EXPECT_EQ(release("alice"), Reply::of_integer(1));
  EXPECT_EQ(holder(), "carol");
}

TEST_P(LockScriptsTest, AWaiterThatGivesUpLeavesTheQueue) {
  acquire("alice");
  queue_up("bob");
  queue_up("carol");
  EXPECT_EQ(release("bob"), Reply::of_integer(0));
  EXPECT_EQ(release("alice"), Reply::of_integer(1));
  EXPECT_EQ(holder(), "carol");
}

TEST_P(LockScriptsTest, ALockThatCameFreeUnseenGoesToTheFirstWhoAsks) {
  acquire("alice");
  queue_up("bob");
  queue_up("carol");
  command({"DEL", "lock"});
  EXPECT_EQ(queue_up("carol").items[0], Reply::of_integer(0));
  EXPECT_EQ(holder(), "bob");
}

TEST_P(LockScriptsTest, RefreshesManyAndSaysOfEachHowItStands) {
  acquire("alice");
  command({"SET", "second", "theirs", "PX", "50000"});
  bed_->plant_list("third");
  const Reply answers =
      eval(redis::kRefreshScript,
           {"counter",
            "lock",
            "queue",
            "waiters",
            "holders",
            "second",
            "q2",
            "w2",
            "h2",
            "third",
            "q3",
            "w3",
            "h3",
            "free",
            "q4",
            "w4",
            "h4"},
           {"channel", "7",    "bob",   "60000", "",  "x", "0",    "carol", "60000", "",  "x",
            "0",       "dave", "60000", "",      "x", "0", "erin", "60000", "",      "s", "0"});
  ASSERT_EQ(answers.items.size(), 4U) << testing::PrintToString(answers);
  EXPECT_EQ(answers.items[0].items.at(3), Reply::of_integer(1));
  EXPECT_EQ(answers.items[1].items.at(1), Reply::of_text("theirs"));
  EXPECT_EQ(answers.items[2], Reply::of_array({Reply::of_integer(2)}));
  EXPECT_EQ(answers.items[3].items.at(0), Reply::of_integer(1));
}

TEST_P(LockScriptsTest, AServerThatIsGoneIsUnavailable) {
  acquire("alice");
  bed_->stop();
  const redis::ScriptCall call{.script = &kReleaseScript, .keys = kLockKeys, .args = {"alice"}};
  // A connection may take one request before it finds out.
  const auto first = bed_->run(call);
  ASSERT_FALSE(first);
  EXPECT_TRUE(first.error().code == Errc::unavailable ||
              first.error().code == Errc::unknown_outcome);
  const auto second = bed_->run(call);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::unavailable);
}

HOLDFAST_ON_BOTH_BEDS(LockScriptsTest);

}  // namespace
}  // namespace holdfast::ports
