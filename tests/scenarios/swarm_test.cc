// Many small worlds with faults drawn from their seeds. Every failure names its seed.
//
// A minute of seeds for each protocol. HOLDFAST_SEEDS asks for so many instead.

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <string>

#include "sim/seed_run.h"

namespace holdfast::sim {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

struct Totals {
  std::uint64_t seeds{0};
  std::uint64_t events{0};
  std::uint64_t grants{0};
  std::uint64_t losses{0};
  std::uint64_t refused_stale{0};
  std::uint64_t lost_updates{0};
  std::uint64_t seeds_with_lost_updates{0};
  std::array<std::uint64_t, kFaultClasses> breaches{};
  std::array<std::uint64_t, kFaultClasses> drawn{};
};

void add(Totals& totals, const SeedReport& report) {
  ++totals.seeds;
  totals.events += report.events;
  totals.grants += report.grants;
  totals.losses += report.losses;
  totals.refused_stale += report.refused_stale;
  totals.lost_updates += report.lost_updates;
  totals.seeds_with_lost_updates += report.lost_updates > 0 ? 1 : 0;
  for (std::size_t i = 0; i < kFaultClasses; ++i) {
    totals.breaches[i] += report.breaches[i];
    totals.drawn[i] += report.drawn.has(static_cast<FaultClass>(i)) ? 1 : 0;
  }
}

bool enough(std::uint64_t seeds, Clock::time_point end) {
  static const char* const asked = std::getenv("HOLDFAST_SEEDS");
  if (asked != nullptr) return seeds >= std::strtoull(asked, nullptr, 10);
  return Clock::now() >= end;
}

void describe(const Protocol& protocol, const Totals& totals) {
  std::cout << protocol.name << ": " << totals.seeds << " seeds, " << totals.events << " events, "
            << totals.grants << " grants, " << totals.losses << " losses, " << totals.refused_stale
            << " stale operations refused, " << totals.lost_updates << " updates lost in "
            << totals.seeds_with_lost_updates << " seeds; two holders";
  for (std::size_t i = 0; i < kFaultClasses; ++i) {
    if (totals.breaches[i] > 0) std::cout << ", " << kFaultNames[i] << ' ' << totals.breaches[i];
  }
  std::cout << '\n';
}

class SwarmTest : public testing::TestWithParam<Protocol> {};

TEST_P(SwarmTest, EveryPromiseHoldsInEveryWorld) {
  const Protocol& protocol = GetParam();
  const SeedOptions options{.protocol = find_protocol(protocol.name)};
  const Clock::time_point end = Clock::now() + 1min;
  Totals totals;
  for (std::uint64_t seed = 0; !enough(seed, end); ++seed) {
    const SeedReport report = run_seed(seed, options);
    add(totals, report);
    for (const Violation& violation : report.violations) {
      ADD_FAILURE() << "./holdfast lab sim --engine " << protocol.name << " --seed " << seed << ": "
                    << violation.checker << ": " << violation.what;
    }
    if (HasFailure()) break;
  }
  describe(protocol, totals);

  // A swarm in which nothing happens would find nothing.
  EXPECT_GT(totals.grants, totals.seeds * 5);
  EXPECT_GT(totals.losses, totals.seeds / 4);
  const bool fenced = protocol.resource == Register::fenced;
  EXPECT_EQ(totals.refused_stale > 0, fenced) << "late holders are stopped by the fence";
  EXPECT_EQ(totals.lost_updates > 0, !fenced) << "and by nothing else";
  for (std::size_t i = 0; i < kFaultClasses; ++i) {
    const bool borne = protocol.faults.has(static_cast<FaultClass>(i));
    EXPECT_EQ(totals.drawn[i] > 0, borne) << kFaultNames[i];
  }
  EXPECT_GT(totals.breaches[static_cast<std::size_t>(FaultClass::clock_drift)], 0U)
      << "clocks beyond the allowance make holders overlap, and it was noticed";
}

INSTANTIATE_TEST_SUITE_P(Protocol,
                         SwarmTest,
                         testing::ValuesIn(protocols().begin(), protocols().end()),
                         [](const auto& param) {
                           std::string name{param.param.name};
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace holdfast::sim
