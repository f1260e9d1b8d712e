// An engine says what it can do, and it is what the table says.

#include "tests/contract/contract.h"

namespace holdfast::contract {
namespace {

using CapabilitiesContract = ContractTest;
HOLDFAST_CONTRACT(CapabilitiesContract);

TEST_P(CapabilitiesContract, AreThoseOfTheTable) {
  const Capabilities said = client().capabilities();
  const Capabilities& table = GetParam().can;
  EXPECT_EQ(said.shared, table.shared);
  EXPECT_EQ(said.permits, table.permits);
  EXPECT_EQ(said.fifo, table.fifo);
  EXPECT_EQ(said.detached, table.detached);
  EXPECT_EQ(said.lock_delay, table.lock_delay);
  EXPECT_EQ(said.watch, table.watch);
  EXPECT_EQ(said.store, table.store);
}

TEST_P(CapabilitiesContract, HasAStoreOrSaysThatItHasNone) {
  const auto store = client().store();
  EXPECT_EQ(store.has_value(), GetParam().can.store);
  if (store) return;
  EXPECT_EQ(store.error().code, Errc::unsupported);
  EXPECT_NE(store.error().message.find("store"), std::string::npos);
}

TEST_P(CapabilitiesContract, EngineUrlOpensTheSameEngine) {
  auto lease = client().acquire("x");
  ASSERT_TRUE(lease);
  auto again = Client::connect(client().engine());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->domain(), client().domain());
  EXPECT_EQ(again->try_acquire("x").error().code, Errc::busy);
  EXPECT_TRUE(again->check_sequencer(lease->sequencer())->stands);
}

TEST_P(CapabilitiesContract, DomainStaysWithTheEngine) {
  const std::string domain = client().domain();
  EXPECT_FALSE(domain.empty());
  EXPECT_EQ(reconnect().domain(), domain);
}

}  // namespace
}  // namespace holdfast::contract
