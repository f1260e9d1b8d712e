// Campaign: many seeds, on as many threads as are given, and what they add up to.
//
// The sum is the same for any number of threads. Every world lives on one thread from beginning to
// end, and threads share nothing but the list of seeds still to do.

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "sim/seed_run.h"

namespace holdfast::sim {

/// Runs one seed. Called on several threads at a time.
using SeedRunner = std::function<SeedReport(std::uint64_t seed, const SeedOptions& options)>;

/// The checker of worlds that do not come out the same twice.
inline constexpr std::string_view kDeterminism = "determinism";

/// One seed in so many is run twice, the first one always.
inline constexpr std::uint64_t kRepeatEvery = 256;

struct Failure {
  std::uint64_t seed{0};
  Violation violation{};
};

/// What some seeds add up to.
struct Tally {
  std::uint64_t seeds{0};
  std::uint64_t repeated{0};
  std::uint64_t events{0};
  std::uint64_t grants{0};
  std::uint64_t losses{0};
  std::uint64_t refused_stale{0};
  std::uint64_t writes{0};
  std::uint64_t lost_updates{0};
  /// How many seeds lost an update.
  std::uint64_t losing_seeds{0};
  std::array<std::uint64_t, kFaultClasses> breaches{};
  /// How many seeds had a fault of the class.
  std::array<std::uint64_t, kFaultClasses> drawn{};
  std::uint64_t failing_seeds{0};
  /// By seed, and of each seed the first of each checker. The later ones are left out.
  std::vector<Failure> failures{};
  /// Equal for equal seeds that ran in the same way.
  std::uint64_t trace_hash{0};

  void add(const SeedReport& report, std::size_t failures_max);
  /// `later` is of later seeds.
  void append(Tally later, std::size_t failures_max);
};

struct CampaignOptions {
  SeedOptions seed{};
  std::uint64_t first_seed{1};
  std::uint64_t seeds{10'000};
  /// 0: one per core.
  std::size_t jobs{0};
  /// How many failures are kept.
  std::size_t failures_max{10};
  SeedRunner run{run_seed};
  /// Ends the campaign early. What was done up to the first seed that was not is the result.
  std::stop_token stop{};
  /// Called on the thread of run_campaign(), now and then, with the sum so far.
  std::function<void(const Tally& so_far)> progress{};
};

/// Tally::seeds says how many of the seeds it is about: all, unless it was stopped.
Tally run_campaign(const CampaignOptions& options);

/// Runs the seed again, and adds a violation to the report when it does not come out the same.
SeedReport run_twice(std::uint64_t seed, const SeedOptions& options, const SeedRunner& run);

}  // namespace holdfast::sim
