// Sequencers: third parties ask whether a lease still stands.

#include "tests/contract/contract.h"

namespace holdfast::contract {
namespace {

using SequencerContract = ContractTest;
HOLDFAST_CONTRACT(SequencerContract);

TEST_P(SequencerContract, StandsWhileTheLeaseDoes) {
  auto a = actor();
  ASSERT_TRUE(a->acquire("lease", "x").granted());
  const std::string sequencer = a->ask({"sequencer", "lease"}).at(0);
  const auto standing = client().check_sequencer(sequencer);
  ASSERT_TRUE(standing) << standing.error().message;
  EXPECT_TRUE(standing->stands) << standing->reason;

  a->release("lease");
  EXPECT_FALSE(client().check_sequencer(sequencer)->stands);
  EXPECT_FALSE(client().check_sequencer(sequencer)->reason.empty());
  auto next = client().acquire("x");
  ASSERT_TRUE(next);
  EXPECT_FALSE(client().check_sequencer(sequencer)->stands);
  EXPECT_TRUE(client().check_sequencer(next->sequencer())->stands);
}

TEST_P(SequencerContract, FallsWithTheHoldersProcess) {
  auto a = actor();
  ASSERT_TRUE(a->acquire("lease", "x", {.ttl = GetParam().ttl_of_the_dying}).granted());
  const std::string sequencer = a->ask({"sequencer", "lease"}).at(0);
  a->kill();
  EXPECT_TRUE(eventually([&] { return !client().check_sequencer(sequencer)->stands; }));
}

TEST_P(SequencerContract, FallsWithAPausedHoldersLease) {
  auto a = actor();
  ASSERT_TRUE(a->acquire("lease", "x", {.ttl = 300ms}).granted());
  const std::string sequencer = a->ask({"sequencer", "lease"}).at(0);
  a->pause();
  EXPECT_TRUE(eventually([&] { return !client().check_sequencer(sequencer)->stands; }));
}

TEST_P(SequencerContract, EachReaderHasItsOwn) {
  if (!can(&Capabilities::shared, {.mode = Mode::shared})) return;
  auto first = client().acquire("x", {.mode = Mode::shared});
  auto second = client().acquire("x", {.mode = Mode::shared});
  ASSERT_TRUE(first && second);
  const std::string of_first = first->sequencer();
  EXPECT_TRUE(client().check_sequencer(of_first)->stands);
  first->release();
  EXPECT_FALSE(client().check_sequencer(of_first)->stands);
  EXPECT_TRUE(client().check_sequencer(second->sequencer())->stands);
}

TEST_P(SequencerContract, OfAnotherEngineDoesNotStand) {
  const FreshEngine elsewhere = GetParam().fresh();
  auto other = Client::connect(elsewhere.url);
  ASSERT_TRUE(other) << other.error().message;
  ASSERT_NE(other->domain(), client().domain());
  auto lease = client().acquire("x");
  auto theirs = other->acquire("x");
  ASSERT_TRUE(lease && theirs);
  EXPECT_FALSE(other->check_sequencer(lease->sequencer())->stands);
  EXPECT_FALSE(client().check_sequencer(theirs->sequencer())->stands);
}

TEST_P(SequencerContract, GivesTheSecretToNobody) {
  auto lease = client().acquire("x");
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->sequencer().find(lease->owner().to_string()), std::string::npos);
  EXPECT_NE(lease->sequencer().find(lease->owner().fingerprint()), std::string::npos);
}

TEST_P(SequencerContract, AnythingElseIsRefused) {
  for (const char* text : {"", "hf1", "hf1:exclusive:1", "nonsense", "hf9:exclusive:1:a:b:c"}) {
    const auto refused = client().check_sequencer(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().code, Errc::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace holdfast::contract
