// The same seed gives the same world, event for event, in every build.
//
// hashes.txt has what every build must come to; after a change of a protocol or of the simulator,
// HOLDFAST_REWRITE=1 writes it anew.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "sim/seed_run.h"

namespace holdfast::sim {
namespace {

constexpr std::uint64_t kSeeds = 1'000;

std::uint64_t hash_of(const Protocol& protocol) {
  const SeedOptions options{.protocol = find_protocol(protocol.name)};
  std::uint64_t hash = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    hash = hash * 0x9e3779b97f4a7c15 + run_seed(seed, options).trace_hash;
  }
  return hash;
}

std::map<std::string, std::uint64_t> expected_hashes() {
  std::map<std::string, std::uint64_t> hashes;
  std::ifstream file{HOLDFAST_HASHES};
  for (std::string name; file >> name;) file >> std::hex >> hashes[name];
  return hashes;
}

TEST(DeterminismTest, AThousandSeedsOfEachProtocolAreTheSameInEveryBuild) {
  auto hashes = expected_hashes();
  for (const Protocol& protocol : protocols()) {
    std::uint64_t& expected = hashes[std::string{protocol.name}];
    const std::uint64_t found = hash_of(protocol);
    if (std::getenv("HOLDFAST_REWRITE") != nullptr) expected = found;
    EXPECT_EQ(found, expected) << protocol.name;
  }
  if (std::getenv("HOLDFAST_REWRITE") == nullptr) return;
  std::ofstream file{HOLDFAST_HASHES};
  for (const auto& [name, hash] : hashes) file << name << ' ' << std::hex << hash << '\n';
}

TEST(DeterminismTest, KeepingTheTraceDoesNotChangeIt) {
  SeedOptions options{.protocol = find_protocol("redlock")};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    options.trace = Trace::Keep::nothing;
    const SeedReport bare = run_seed(seed, options);
    options.trace = Trace::Keep::events;
    const SeedReport kept = run_seed(seed, options);
    EXPECT_EQ(bare.trace_hash, kept.trace_hash) << "seed " << seed;
    EXPECT_EQ(kept.trace.size(), kept.events) << "seed " << seed;
  }
}

TEST(DeterminismTest, APrefixIsTheBeginningOfTheWhole) {
  SeedOptions options{.protocol = find_protocol("redis"), .trace = Trace::Keep::events};
  const SeedReport whole = run_seed(3, options);
  options.stop_after = 500;
  const SeedReport prefix = run_seed(3, options);
  ASSERT_GE(prefix.trace.size(), 500U);
  ASSERT_LT(prefix.trace.size(), whole.trace.size());
  for (std::size_t i = 0; i < 500; ++i) {
    EXPECT_EQ(prefix.trace[i].when, whole.trace[i].when) << i;
    EXPECT_EQ(prefix.trace[i].kind, whole.trace[i].kind) << i;
  }
}

TEST(DeterminismTest, DifferentSeedsGiveDifferentTraces) {
  const SeedOptions options{.protocol = find_protocol("redis")};
  std::set<std::uint64_t> hashes;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    hashes.insert(run_seed(seed, options).trace_hash);
  }
  EXPECT_EQ(hashes.size(), 50U);
}

}  // namespace
}  // namespace holdfast::sim
