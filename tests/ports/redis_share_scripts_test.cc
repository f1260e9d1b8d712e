// Locks that several hold together, and lock-delay.

#include "engines/redis/redis_desk_scripts.h"
#include "engines/redis/redis_scripts.h"
#include "tests/ports/redis_bed.h"

namespace holdfast::ports {
namespace {

using redis::kKeepScript;
using redis::kProlongScript;
using redis::kReleaseScript;
using redis::kShareScript;

class ShareScriptsTest : public RedisPortTest {
 protected:
  const std::vector<std::string> kLockKeys{"lock", "counter", "queue", "waiters", "holders"};

  struct Wish {
    std::string claim{"s"};
    std::string ttl{"60000"};
    std::string delay{"0"};
  };
  Reply ask(const std::string& owner, const Wish& wish) {
    return eval(
        kShareScript, kLockKeys, {owner, wish.ttl, "note", "7", "", wish.claim, wish.delay});
  }
  /// As ask(), and waits when the lock is taken.
  Reply queue_up(const std::string& owner, const Wish& wish) {
    return eval(kShareScript,
                kLockKeys,
                {owner, wish.ttl, "note", "7", owner + "-channel", wish.claim, wish.delay});
  }
  bool enters(const std::string& owner, const Wish& wish) { return is_grant(ask(owner, wish)); }
  bool share(const std::string& owner) { return enters(owner, {}); }
  Reply release(const std::string& owner) { return eval(kReleaseScript, kLockKeys, {owner}); }
  Reply keep(const std::string& owner, const std::string& token) {
    return eval(kKeepScript, {"lock", "holders", "broken"}, {"600000", owner + ":" + token + ":"});
  }
  static Reply fate(std::int64_t number) { return Reply::of_array({Reply::of_integer(number)}); }
  static bool is_grant(const Reply& reply) {
    return reply.items.size() == 2 && reply.items[0] == Reply::of_integer(1);
  }
  bool holds(const std::string& owner) {
    return command({"HGET", "holders", owner}).kind == Reply::Kind::text;
  }
  /// Whether a lock is taken that is not ours.
  bool foreign_client_gets_it() {
    return command({"SET", "lock", "theirs", "NX", "PX", "60000"}) == kOk;
  }
};

TEST_P(ShareScriptsTest, ReadersHoldTogetherEachWithATokenOfItsOwn) {
  const Reply alice = ask("alice", {});
  const Reply bob = ask("bob", {});
  ASSERT_TRUE(is_grant(alice) && is_grant(bob));
  EXPECT_LT(std::stoull(alice.items[1].text), std::stoull(bob.items[1].text));
  EXPECT_EQ(ask("alice", {}), alice) << "asked again, the same";
  EXPECT_EQ(command({"GET", "lock"}), Reply::of_text(":holdfast:s"));
}

TEST_P(ShareScriptsTest, TheMarkerKeepsForeignClientsOutToTheLast) {
  share("alice");
  share("bob");
  EXPECT_FALSE(foreign_client_gets_it());
  EXPECT_EQ(release("alice"), Reply::of_integer(1));
  EXPECT_FALSE(foreign_client_gets_it());
  EXPECT_EQ(release("bob"), Reply::of_integer(1));
  EXPECT_TRUE(foreign_client_gets_it());
  EXPECT_FALSE(share("carol"));
}

TEST_P(ShareScriptsTest, TheMarkerLastsAsLongAsTheLongestAndItsDelay) {
  enters("alice", {.ttl = "60000"});
  enters("bob", {.ttl = "20000"});
  EXPECT_GT(ttl_ms("lock"), 40'000);
  enters("carol", {.ttl = "60000", .delay = "60000"});
  EXPECT_GT(ttl_ms("lock"), 100'000);
  EXPECT_GE(ttl_ms("holders"), ttl_ms("lock") - 1000);
}

TEST_P(ShareScriptsTest, TheMarkerDoesNotOutlastWhoStillHolds) {
  enters("alice", {.ttl = "900000"});
  enters("bob", {.ttl = "60000"});
  EXPECT_EQ(release("alice"), Reply::of_integer(1));
  EXPECT_LE(ttl_ms("lock"), 60'000);
  EXPECT_TRUE(holds("bob"));
}

TEST_P(ShareScriptsTest, ReadersAndWritersKeepEachOtherOut) {
  share("alice");
  EXPECT_EQ(eval(redis::kAcquireScript, kLockKeys, {"writer", "60000", "", "7", ""}).items.at(1),
            Reply::of_text(":holdfast:s"));
  EXPECT_FALSE(enters("permit", {.claim = "p2"}));
  release("alice");
  EXPECT_TRUE(is_grant(eval(redis::kAcquireScript, kLockKeys, {"writer", "60000", "", "7", ""})));
  EXPECT_FALSE(share("alice"));
}

TEST_P(ShareScriptsTest, AWaitingWriterStopsNewReaders) {
  share("alice");
  EXPECT_FALSE(is_grant(queue_up("writer", {.claim = "x"})));
  EXPECT_FALSE(share("bob"));
  const auto carol = bed_->listen("carol-channel");
  EXPECT_FALSE(is_grant(queue_up("carol", {})));
  EXPECT_EQ(release("writer"), Reply::of_integer(0));
  EXPECT_TRUE(holds("carol")) << "nobody is before it any more";
  EXPECT_TRUE(carol->next().starts_with("carol "));
}

TEST_P(ShareScriptsTest, AReleaseLetsInEveryReaderUpToTheNextWriter) {
  eval(redis::kAcquireScript, kLockKeys, {"writer", "60000", "", "7", ""});
  const auto alice = bed_->listen("alice-channel");
  const auto bob = bed_->listen("bob-channel");
  queue_up("alice", {});
  queue_up("bob", {});
  queue_up("next", {.claim = "x"});
  queue_up("carol", {});
  EXPECT_EQ(release("writer"), Reply::of_integer(1));
  EXPECT_TRUE(holds("alice") && holds("bob"));
  EXPECT_FALSE(holds("carol"));
  EXPECT_TRUE(alice->next().starts_with("alice "));
  EXPECT_TRUE(bob->next().starts_with("bob "));
  release("alice");
  release("bob");
  EXPECT_TRUE(command({"GET", "lock"}).text.starts_with("next:"));
}

TEST_P(ShareScriptsTest, RefusesATtlThatIsNone) {
  for (const char* ttl : {"0", "-1", "x", "", "1.5", "9223372036854775807"}) {
    EXPECT_EQ(ask("alice", {.ttl = ttl}).kind, Reply::Kind::error) << ttl;
    EXPECT_EQ(command({"EXISTS", "lock", "holders"}), Reply::of_integer(0)) << ttl;
  }
}

TEST_P(ShareScriptsTest, AtMostNHoldPermits) {
  EXPECT_TRUE(enters("alice", {.claim = "p2"}));
  EXPECT_TRUE(enters("bob", {.claim = "p2"}));
  EXPECT_FALSE(enters("carol", {.claim = "p2"}));
  EXPECT_EQ(queue_up("dave", {.claim = "p2"}).items.at(3), Reply::of_integer(1));
  EXPECT_EQ(release("alice"), Reply::of_integer(1));
  EXPECT_TRUE(holds("dave"));
  EXPECT_FALSE(enters("carol", {.claim = "p2"}));
}

TEST_P(ShareScriptsTest, AnotherNumberOfPermitsIsRefusedWhoeverHoldsOrWaits) {
  const Reply refused = Reply::of_array({Reply::of_integer(3)});
  enters("alice", {.claim = "p2"});
  EXPECT_EQ(ask("bob", {.claim = "p3"}), refused);
  release("alice");
  share("alice");
  queue_up("bob", {.claim = "p2"});
  EXPECT_EQ(queue_up("carol", {.claim = "p3"}), refused);
  EXPECT_EQ(command({"LRANGE", "queue", "0", "-1"}), Reply::of_array({Reply::of_text("bob")}));
  release("bob");
  EXPECT_EQ(queue_up("carol", {.claim = "p3"}).items.at(3), Reply::of_integer(1));
}

TEST_P(ShareScriptsTest, AHolderThatIsOverMakesRoom) {
  enters("alice", {.claim = "p1", .ttl = "30"});
  Reply bob = ask("bob", {.claim = "p1"});
  EXPECT_EQ(bob.items.at(0), Reply::of_integer(0));
  EXPECT_LE(bob.items.at(2).integer, 30) << "that is when it may change";
  while (!is_grant(bob)) {
    bed_->let_time_pass();
    bob = ask("bob", {.claim = "p1"});
  }
  EXPECT_EQ(release("alice"), Reply::of_integer(0));
  EXPECT_EQ(keep("alice", "1"), fate(0));
  EXPECT_EQ(keep("bob", bob.items[1].text), fate(1));
}

TEST_P(ShareScriptsTest, OneThatIsOverIsForgottenWhileOthersHold) {
  enters("alice", {.ttl = "30"});
  const Reply bob = ask("bob", {});
  while (holds("alice")) {
    bed_->let_time_pass();
    ask("carol", {.claim = "x"});
  }
  EXPECT_TRUE(holds("bob"));
  EXPECT_EQ(keep("bob", bob.items[1].text), fate(1));
}

TEST_P(ShareScriptsTest, KeepsWhoIsThereAndCreatesNothing) {
  const std::string token = ask("alice", {}).items.at(1).text;
  EXPECT_EQ(keep("alice", token), fate(1));
  EXPECT_GT(ttl_ms("lock"), 60'000);
  EXPECT_EQ(keep("alice", token + "0"), fate(0));
  EXPECT_EQ(keep("bob", token), fate(0));
  command({"DEL", "lock"});
  EXPECT_EQ(keep("alice", token), fate(0)) << "without the marker it holds nothing";
  EXPECT_EQ(command({"EXISTS", "lock"}), Reply::of_integer(0));
  command({"SET", "broken", "bob:1: alice:" + token + ":"});
  EXPECT_EQ(keep("alice", token), fate(2));
}

TEST_P(ShareScriptsTest, WhoHeldBehindALostMarkerDoesNotComeBackWithTheNext) {
  const std::string token = ask("alice", {}).items.at(1).text;
  command({"DEL", "lock"});
  EXPECT_TRUE(share("bob"));
  EXPECT_EQ(keep("alice", token), fate(0));
  EXPECT_FALSE(holds("alice"));
}

TEST_P(ShareScriptsTest, AMarkerWithoutHoldersKeepsEverybodyOut) {
  share("alice");
  command({"DEL", "holders"});
  EXPECT_FALSE(enters("bob", {.claim = "x"}));
  EXPECT_FALSE(share("bob"));
}

TEST_P(ShareScriptsTest, ProlongsByOwnerAndNeverShortens) {
  const auto prolong = [&](const std::string& owner, const std::string& ttl) {
    return eval(kProlongScript, {"lock", "holders"}, {owner, ttl}).integer;
  };
  share("alice");
  EXPECT_EQ(prolong("alice", "900000"), 900'000);
  EXPECT_GT(prolong("alice", "1000"), 800'000);
  EXPECT_GT(ttl_ms("lock"), 800'000);
  EXPECT_EQ(prolong("bob", "1000"), 0);
}

TEST_P(ShareScriptsTest, AfterOneVanishedNobodyEntersForItsDelay) {
  enters("alice", {.claim = "x", .ttl = "30", .delay = "60000"});
  Reply bob = ask("bob", {.claim = "x"});
  while (bob.items.at(2).integer <= 30) {
    bed_->let_time_pass();
    bob = ask("bob", {.claim = "x"});
  }
  EXPECT_EQ(bob.items[0], Reply::of_integer(0));
  EXPECT_LE(bob.items[2].integer, 60'000);
  EXPECT_FALSE(share("carol"));
  EXPECT_FALSE(foreign_client_gets_it());
  EXPECT_EQ(release("alice"), Reply::of_integer(0)) << "it is too late for that";
  EXPECT_FALSE(share("carol"));
}

TEST_P(ShareScriptsTest, ADelayEnds) {
  enters("alice", {.claim = "x", .ttl = "20", .delay = "20"});
  const auto bob = bed_->listen("bob-channel");
  queue_up("bob", {});
  while (!holds("bob")) {
    bed_->let_time_pass();
    queue_up("bob", {});
  }
  EXPECT_TRUE(share("carol"));
}

TEST_P(ShareScriptsTest, AReleaseLeavesNoDelay) {
  enters("alice", {.claim = "x", .delay = "60000"});
  EXPECT_EQ(release("alice"), Reply::of_integer(1));
  EXPECT_EQ(command({"EXISTS", "lock", "holders"}), Reply::of_integer(0));
}

TEST_P(ShareScriptsTest, ThoseWhoStillHoldGoOnWhileItIsDelayed) {
  enters("alice", {.ttl = "30", .delay = "60000"});
  const std::string bob = ask("bob", {}).items.at(1).text;
  while (ask("carol", {}).items.at(0) == Reply::of_integer(1)) {
    release("carol");
    bed_->let_time_pass();
  }
  EXPECT_EQ(keep("bob", bob), fate(1));
  EXPECT_EQ(release("bob"), Reply::of_integer(1));
  EXPECT_FALSE(share("carol"));
}

HOLDFAST_ON_BOTH_BEDS(ShareScriptsTest);

}  // namespace
}  // namespace holdfast::ports
