// The options of `holdfast lab sim`, as typed and as understood.

#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/lab/demo.h"
#include "holdfast/result.h"
#include "sim/campaign.h"
#include "sim/timeline.h"

namespace holdfast::cli {

/// Empty: not given.
struct SimArguments {
  std::string engine;
  std::string mutant;
  std::string seeds;
  std::string first_seed;
  std::string seed;
  std::string limit;
  std::string faults;
  std::string nodes;
  std::string clients;
  std::string events;
  std::string stop_after;
  std::string jobs;
  std::string svg;
  std::string html;
  bool timeline{false};
  bool all{false};
  bool list{false};
};

struct SimPlan {
  sim::CampaignOptions campaign{};
  /// When to stop; 0: when all seeds are done.
  Millis limit{0};
  /// Show the whole timeline.
  bool timeline{false};
  sim::Detail detail{sim::Detail::story};
  DemoOptions picture{};

  /// Whether a person looks at one seed.
  bool one_seed() const { return campaign.seeds == 1; }
  bool wants_picture() const { return !picture.svg.empty() || !picture.html.empty(); }
};

void add_sim_options(CLI::App& command, SimArguments& arguments);

/// invalid_argument names the option and what it may be.
Result<SimPlan> to_plan(const SimArguments& arguments);

}  // namespace holdfast::cli
