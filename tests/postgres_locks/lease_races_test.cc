// The functions of the lease mode, called by many at once.

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <atomic>

#include "tests/campaigns/let_pass.h"
#include "tests/postgres_locks/lease_bed.h"

namespace holdfast::postgres {
namespace {

constexpr int kLong = 60'000;

std::string owner_of(int number, int round) {
  return "owner" + std::to_string(number) + "-" + std::to_string(round);
}

/// Takes the lock in turn with others and says in which order the tokens were given.
class Relay {
 public:
  void take_part(LeaseClient& client, int number, int rounds) {
    for (int round = 0; round < rounds; ++round) {
      const std::string owner = owner_of(number, round);
      std::string outcome = "queued";
      while (outcome == "queued") outcome = client.acquire("baton", owner, kLong, "t");
      ASSERT_EQ(outcome, "granted");
      EXPECT_EQ(inside_.fetch_add(1), 0);
      tokens_.push_back(client.token());
      inside_.fetch_sub(1);
      client.release("baton", owner);
    }
  }

  std::vector<std::int64_t> tokens() const { return tokens_; }

 private:
  std::atomic<int> inside_{0};
  /// Touched by the holder alone.
  std::vector<std::int64_t> tokens_;
};

void expect_strictly_rising(const std::vector<std::int64_t>& tokens) {
  EXPECT_TRUE(std::ranges::is_sorted(tokens, std::ranges::less_equal{}));
}

TEST(LeaseRacesTest, OneHoldsAtATimeAndTokensRise) {
  constexpr int kCrowd = 8;
  constexpr int kRounds = 40;
  const std::string database = lease_database();
  Relay relay;
  crowd(kCrowd, database, [&](LeaseClient& client, int number) {
    relay.take_part(client, number, kRounds);
  });
  EXPECT_EQ(relay.tokens().size(), std::size_t{kCrowd * kRounds});
  expect_strictly_rising(relay.tokens());
  EXPECT_EQ(shared_server().psql("SELECT count(*) FROM holdfast.holder", database), "0");
  EXPECT_EQ(shared_server().psql("SELECT count(*) FROM holdfast.waiter", database), "0");
}

// A backend that ends by force leaves its transaction undone, or done and unanswered.
TEST(LeaseRacesTest, BackendsThatAreEndedByForceBreakNothing) {
  const std::string database = lease_database();
  Relay relay;
  std::atomic<int> playing{4};
  std::jthread axe([&] {
    while (playing > 0) {
      shared_server().psql(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + database +
          "' AND random() < 0.5");
    }
  });
  crowd(4, database, [&](LeaseClient& client, int number) {
    relay.take_part(client, number, 15);
    --playing;
  });
  expect_strictly_rising(relay.tokens());
  EXPECT_EQ(relay.tokens().size(), 60u);
}

// Leases so short that renewals and takers meet at their end. Whoever was renewed by a request that
// left after another was granted the lock would hold it together with that other.
TEST(LeaseRacesTest, ARenewalNeverBringsBackWhatAnotherHas) {
  constexpr int kTtl = 4;
  const std::string database = lease_database();
  std::atomic<std::int64_t> highest{0};
  std::atomic<int> renewed{0};
  std::atomic<int> ended{0};
  crowd(4, database, [&](LeaseClient& client, int number) {
    for (int round = 0; round < 20; ++round) {
      const std::string owner = owner_of(number, round);
      while (client.acquire("hot", owner, kTtl, "f") != "granted") {
      }
      const std::int64_t token = client.token();
      std::int64_t seen = highest;
      while (seen < token && !highest.compare_exchange_weak(seen, token)) {
      }
      // From one renewal at once to one that is surely late, with those between that may be.
      const Millis pause{round % 5 * kTtl / 2};
      for (;;) {
        campaigns::let_pass(pause);
        const std::int64_t before = highest;
        const auto fate = client.renew({"hot"}, {owner}, {std::to_string(token)}, kTtl).at(0);
        if (fate != "renewed") {
          EXPECT_EQ(fate, "gone");
          ++ended;
          break;
        }
        EXPECT_LE(before, token);
        ++renewed;
        if (renewed % 7 == 0) break;
      }
    }
  });
  EXPECT_GT(renewed, 0);
  EXPECT_GT(ended, 0);
}

// Many names at once, in every order, while others renew, take and break the same ones.
TEST(LeaseRacesTest, NobodyWaitsInACircle) {
  const std::string database = lease_database();
  const std::vector<Value> names{"a", "b", "c", "d", "e", "f"};
  crowd(6, database, [&](LeaseClient& client, int number) {
    for (int round = 0; round < 40; ++round) {
      std::vector<Value> order = names;
      std::ranges::rotate(order, order.begin() + (number + round) % 6);
      if (number % 2 == 1) std::ranges::reverse(order);
      const std::vector<Value> owners(6, owner_of(number, 0));
      const std::vector<Value> ttls(6, "3");
      const auto answers = client.ask(kRefreshStatement,
                                      {array_text(order),
                                       array_text(owners),
                                       array_text(ttls),
                                       array_text(std::vector<Value>(6, "note")),
                                       array_text(std::vector<Value>(6, "s")),
                                       array_text(std::vector<Value>(6, "0")),
                                       std::nullopt});
      ASSERT_EQ(answers.size(), 6u) << answers.at(0);
      std::vector<Value> tokens;
      for (const Row& row : client.rows()) tokens.push_back(row[0] == "granted" ? row[1] : "1");
      const auto fates = client.renew(order, owners, tokens, 3);
      ASSERT_EQ(fates.size(), 6u) << fates.at(0);
      if (round % 5 == 0) {
        const auto broken = client.ask(kBreakStatement, {*order[0], "test"});
        EXPECT_TRUE(broken.empty() || broken[0][0] != '!') << broken[0];
      }
    }
  });
}

}  // namespace
}  // namespace holdfast::postgres
