// Shrinking keeps what a failure needs, and nothing else.

#include "sim/shrink.h"

#include <gtest/gtest.h>

#include "sim/faults/fault_list.h"

namespace holdfast::sim {
namespace {

constexpr std::uint64_t kEvents = 2000;

FaultSet set(std::string_view list) { return parse_faults(list).value(); }

bool has_all(FaultSet faults, FaultSet needed) { return faults.both(needed) == needed; }

// A world that fails from some event on, when it has the faults it takes.
struct Fake {
  FaultSet drawn{set("loss,delay,pause,crash,clock-step")};
  FaultSet needed{};
  std::uint64_t fails_at{0};
  Ending ending{Ending::prefix};
  int runs{0};

  SeedReport operator()(const SeedOptions& options) {
    ++runs;
    SeedReport report{.seed = 5, .drawn = options.faults.both(drawn)};
    report.events = std::min({options.events + 300, kEvents, options.stop_after});
    const bool cut_off = report.events == options.stop_after;
    const bool seen = ending == Ending::prefix ? report.events >= fails_at
                                               : options.events >= fails_at && !cut_off;
    report.violations.push_back({"other", "always"});
    if (seen && has_all(report.drawn, needed)) {
      report.violations.push_back({"L1", "at " + std::to_string(report.events)});
    }
    return report;
  }
};

Shrunk shrunk(Fake& fake) {
  const SeedOptions options;
  const SeedReport failed = fake(options);
  return shrink(options, failed, "L1", [&](const SeedOptions& given) { return fake(given); });
}

TEST(ShrinkTest, KeepsTheFaultsItTakesAndTheShortestPrefix) {
  Fake fake{.needed = set("pause,loss"), .fails_at = 812};
  const Shrunk result = shrunk(fake);
  EXPECT_EQ(to_list(result.options.faults), "loss,pause");
  EXPECT_EQ(result.options.stop_after, 812U);
  EXPECT_EQ(result.ending, Ending::prefix);
  EXPECT_EQ(result.violation.checker, "L1");
  EXPECT_EQ(result.violation.what, "at 812");
  EXPECT_LT(result.runs, 40);
  EXPECT_EQ(result.runs, fake.runs - 1);
}

TEST(ShrinkTest, AFailureWithoutFaultsNeedsNone) {
  Fake fake{.fails_at = 1};
  const Shrunk result = shrunk(fake);
  EXPECT_TRUE(result.options.faults.empty());
  EXPECT_EQ(result.options.stop_after, 1U);
}

TEST(ShrinkTest, WhatShowsAfterTheHealingIsHealedAsEarlyAsItStillFails) {
  Fake fake{.needed = set("crash"), .fails_at = 77, .ending = Ending::healed};
  const Shrunk result = shrunk(fake);
  EXPECT_EQ(result.ending, Ending::healed);
  EXPECT_EQ(result.options.events, 77U);
  EXPECT_EQ(result.options.stop_after, SeedOptions{}.stop_after);
  EXPECT_EQ(to_list(result.options.faults), "crash");
}

TEST(ShrinkTest, AFailureThatNeverComesBackIsLeftAsItWas) {
  const SeedOptions options{.faults = set("loss,pause")};
  SeedReport failed{.seed = 5, .events = kEvents, .drawn = set("loss,pause")};
  failed.violations.push_back({"L1", "once"});
  const Shrunk result = shrink(options, failed, "L1", [](const SeedOptions& given) {
    return SeedReport{.seed = 5, .events = std::min(kEvents, given.stop_after)};
  });
  EXPECT_EQ(result.options.faults, options.faults);
  EXPECT_EQ(result.options.stop_after, options.stop_after);
  EXPECT_EQ(result.options.events, options.events);
  EXPECT_EQ(result.violation.what, "once");
}

TEST(ShrinkTest, ShrinkingAgainChangesNothing) {
  Fake fake{.needed = set("clock-step"), .fails_at = 400};
  const Shrunk once = shrunk(fake);
  const SeedReport failed = fake(once.options);
  const Shrunk twice =
      shrink(once.options, failed, "L1", [&](const SeedOptions& given) { return fake(given); });
  EXPECT_EQ(twice.options.faults, once.options.faults);
  EXPECT_EQ(twice.options.stop_after, once.options.stop_after);
  EXPECT_EQ(twice.ending, Ending::prefix);
}

TEST(ShrinkTest, AMutantIsShrunkForReal) {
  const Mutant* mutant = find_mutant("grants-everyone");
  ASSERT_NE(mutant, nullptr);
  const SeedOptions options{.protocol = find_protocol(mutant->protocol), .mutant = mutant};
  for (std::uint64_t seed = 1; seed <= mutant->seeds; ++seed) {
    const SeedReport failed = run_seed(seed, options);
    if (find_violation(failed, mutant->checker) == nullptr) continue;
    const Shrunk result = shrink(options, failed, mutant->checker, [&](const SeedOptions& given) {
      return run_seed(seed, given);
    });
    EXPECT_EQ(result.ending, Ending::prefix);
    EXPECT_LT(result.options.stop_after, failed.events);
    EXPECT_NE(find_violation(run_seed(seed, result.options), mutant->checker), nullptr);
    return;
  }
  FAIL() << "no seed found the mutant out";
}

}  // namespace
}  // namespace holdfast::sim
