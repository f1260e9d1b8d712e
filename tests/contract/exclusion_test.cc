// One holder at a time, whoever asks: threads, clients, processes.

#include "tests/contract/contract.h"
#include "tests/contract/labour.h"

namespace holdfast::contract {
namespace {

using ExclusionContract = ContractTest;
HOLDFAST_CONTRACT(ExclusionContract);

TEST_P(ExclusionContract, ProcessesNeverMeetInsideAndTokensRise) {
  constexpr int kActors = 4;
  constexpr int kRounds = 100;
  std::vector<std::unique_ptr<Actor>> actors;
  for (int i = 0; i < kActors; ++i) actors.push_back(actor());
  std::vector<std::future<Fields>> replies;
  for (auto& one : actors) {
    replies.push_back(one->send({"count", "x", file("ledger"), std::to_string(kRounds)}));
  }
  for (auto& reply : replies) {
    ASSERT_EQ(reply.wait_for(kPatience), std::future_status::ready);
    EXPECT_EQ(reply.get().at(0), "done");
  }
  EXPECT_EQ(read_count(file("ledger")), std::uint64_t{kActors * kRounds});
}

TEST_P(ExclusionContract, ThreadsOfOneClientNeverMeetInside) {
  Client mine = reconnect();
  EXPECT_EQ(labour(mine, {"0", "crowd", "x", file("ledger"), "50"}), (Fields{"done", "50"}));
  EXPECT_EQ(read_count(file("ledger")), 50u);
}

TEST_P(ExclusionContract, TwoClientsOfOneProcessExcludeEachOther) {
  Client other = reconnect();
  auto lease = client().try_acquire("x");
  ASSERT_TRUE(lease);
  EXPECT_EQ(other.try_acquire("x").error().code, Errc::busy);
  EXPECT_EQ(client().try_acquire("x").error().code, Errc::busy);
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  EXPECT_TRUE(other.try_acquire("x"));
}

TEST_P(ExclusionContract, NamesAreIndependent) {
  std::vector<Lease> leases;
  for (const char* name : {"a", "a/b", "A", "a b", "a%2Fb", "ä", "a/"}) {
    auto lease = client().try_acquire(name);
    ASSERT_TRUE(lease) << name;
    leases.push_back(std::move(*lease));
  }
  EXPECT_EQ(client().list()->size(), leases.size());
}

TEST_P(ExclusionContract, ManyNamesAreHeldAtOnce) {
  constexpr int kNames = 2000;
  std::vector<Lease> leases;
  for (int i = 0; i < kNames; ++i) {
    auto lease = client().try_acquire("name-" + std::to_string(i));
    ASSERT_TRUE(lease) << lease.error().message;
    leases.push_back(std::move(*lease));
  }
  Client other = reconnect();
  EXPECT_EQ(other.list("name-")->size(), std::size_t{kNames});
  EXPECT_EQ(other.try_acquire("name-1999").error().code, Errc::busy);
  leases.clear();
  EXPECT_TRUE(other.list()->empty());
}

TEST_P(ExclusionContract, DestructionReleases) {
  {
    const auto lease = client().acquire("x");
    ASSERT_TRUE(lease);
  }
  EXPECT_TRUE(client().try_acquire("x"));
}

TEST_P(ExclusionContract, LeaseOutlivesItsClient) {
  std::optional<Lease> lease;
  {
    Client brief = reconnect();
    auto acquired = brief.acquire("x", {.ttl = 300ms});
    ASSERT_TRUE(acquired);
    lease = std::move(*acquired);
  }
  const auto timeout = client().acquire("x", {.wait = 1s});
  ASSERT_FALSE(timeout);
  EXPECT_TRUE(lease->ensure_held());
  lease.reset();
  EXPECT_TRUE(client().try_acquire("x"));
}

}  // namespace
}  // namespace holdfast::contract
