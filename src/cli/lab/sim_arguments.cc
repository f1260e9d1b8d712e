#include "cli/lab/sim_arguments.h"

#include <fmt/format.h>

#include <limits>

#include "base/decimal.h"
#include "cli/command.h"
#include "cli/text.h"
#include "sim/faults/fault_list.h"

namespace holdfast::cli {
namespace {

constexpr std::uint64_t kSeedsMost = 1'000'000'000'000;
constexpr std::uint64_t kSeedLast = std::numeric_limits<std::int64_t>::max() - kSeedsMost;
constexpr std::uint64_t kEventsMost = 1'000'000;

Unexpected<Error> not_understood(std::string message, std::string remedy) {
  return Unexpected{Error{Errc::invalid_argument, std::move(message), std::move(remedy)}};
}

struct Numeric {
  std::string_view option;
  const std::string& text;
  std::uint64_t least;
  std::uint64_t most;
};

// Leaves `value` alone when the option was not given.
template <class Number>
Result<void> read_number(const Numeric& given, Number& value) {
  if (given.text.empty()) return {};
  const auto number = parse_decimal<std::uint64_t>(given.text);
  const std::string range = fmt::format("use {} to {}", given.least, given.most);
  if (!number) {
    return not_understood(
        fmt::format("{}: '{}' is not a number", given.option, printable(given.text)), range);
  }
  if (*number < given.least || *number > given.most) {
    return not_understood(fmt::format("{}: {} is out of range", given.option, *number), range);
  }
  value = static_cast<Number>(*number);
  return {};
}

template <class Things>
std::string names_of(const Things& things) {
  std::string names;
  for (const auto& thing : things) names += (names.empty() ? "" : ", ") + std::string{thing.name};
  return names;
}

Result<void> read_engine(const SimArguments& arguments, sim::SeedOptions& options) {
  if (!arguments.mutant.empty()) {
    options.mutant = sim::find_mutant(arguments.mutant);
    if (options.mutant == nullptr) {
      return not_understood(
          fmt::format("--mutant: there is no mutant '{}'", printable(arguments.mutant)),
          "use one of: " + names_of(sim::mutants()));
    }
  }
  const std::string_view usual = options.mutant == nullptr ? "redlock" : options.mutant->protocol;
  const std::string_view engine = arguments.engine.empty() ? usual : arguments.engine;
  options.protocol = sim::find_protocol(engine);
  if (options.protocol == nullptr) {
    return not_understood(fmt::format("--engine: there is no model of '{}'", printable(engine)),
                          "use one of: " + names_of(sim::protocols()));
  }
  if (options.mutant != nullptr && options.mutant->protocol != engine) {
    return not_understood(fmt::format("--mutant: '{}' is a broken {}, not a broken {}",
                                      options.mutant->name,
                                      options.mutant->protocol,
                                      engine),
                          "leave --engine out");
  }
  return {};
}

Result<void> read_world(const SimArguments& arguments, sim::SeedOptions& options) {
  for (const auto& read :
       {read_number({"--nodes", arguments.nodes, 1, 9}, options.nodes),
        read_number({"--clients", arguments.clients, 1, 16}, options.clients),
        read_number({"--events", arguments.events, 1, kEventsMost}, options.events),
        read_number({"--stop-after", arguments.stop_after, 1, kEventsMost}, options.stop_after)}) {
    if (!read) return read;
  }
  if (options.protocol->nodes == 1 && options.nodes > 1) {
    return not_understood(fmt::format("--nodes: {} has one node", options.protocol->name),
                          "leave --nodes out, or use --engine redlock");
  }
  if (arguments.faults.empty()) return {};
  const auto faults = sim::parse_faults(arguments.faults);
  if (!faults) {
    return not_understood("--faults: " + printable(faults.error().message),
                          std::string{faults.error().remedy()});
  }
  options.faults = *faults;
  for (std::size_t i = 0; i < sim::kFaultClasses && *faults != sim::FaultSet::all(); ++i) {
    const auto kind = static_cast<sim::FaultClass>(i);
    if (!faults->has(kind) || options.protocol->faults.has(kind)) continue;
    return not_understood(fmt::format("--faults: {} is not run with {}: it does not bear that",
                                      options.protocol->name,
                                      to_string(kind)),
                          "see --list for what it bears");
  }
  return {};
}

Result<void> read_seeds(const SimArguments& arguments, SimPlan& plan) {
  sim::CampaignOptions& campaign = plan.campaign;
  if (!arguments.limit.empty()) {
    const auto limit = duration_option("--for", arguments.limit);
    if (!limit) return Unexpected{limit.error()};
    if (*limit == Millis{0}) {
      return not_understood("--for: no time at all", "say how long, such as 60s");
    }
    plan.limit = *limit;
    campaign.seeds = kSeedsMost;
  }
  if (!arguments.seed.empty()) campaign.seeds = 1;
  for (const auto& read :
       {read_number({"--seed", arguments.seed, 0, kSeedLast}, campaign.first_seed),
        read_number({"--first-seed", arguments.first_seed, 0, kSeedLast}, campaign.first_seed),
        read_number({"--seeds", arguments.seeds, 1, kSeedsMost}, campaign.seeds),
        read_number({"--jobs", arguments.jobs, 1, 256}, campaign.jobs)}) {
    if (!read) return read;
  }
  return {};
}

void add_text(
    CLI::App& command, const char* option, std::string& value, const char* type, const char* what) {
  const CLI::Validator given{
      [](const std::string& text) { return std::string{text.empty() ? "needs a value" : ""}; }, ""};
  command.add_option(option, value, what)->type_name(type)->check(given);
}

}  // namespace

void add_sim_options(CLI::App& command, SimArguments& given) {
  add_text(command, "--engine", given.engine, "NAME", "The protocol (default redlock)");
  add_text(command, "--mutant", given.mutant, "NAME", "A broken form of it, to be found out");
  add_text(command, "--seeds", given.seeds, "N", "How many worlds (default 10000)");
  add_text(command, "--first-seed", given.first_seed, "S", "The first of them (default 1)");
  add_text(command, "--seed", given.seed, "S", "This world only");
  add_text(command, "--for", given.limit, "TIME", "As many worlds as fit into this time");
  add_text(command, "--faults", given.faults, "LIST", "all, none, or some: pause,loss");
  add_text(command, "--nodes", given.nodes, "N", "Lock servers, 1 to 9");
  add_text(command, "--clients", given.clients, "N", "Processes, 1 to 16 (default 4)");
  add_text(command, "--events", given.events, "N", "Heal a world after so many (default 1550)");
  add_text(command, "--stop-after", given.stop_after, "N", "End a world after so many, as it is");
  add_text(command, "--jobs", given.jobs, "N", "Threads (default: one per core)");
  add_text(command, "--svg", given.svg, "FILE", "Draw the simplest failure, or the one world");
  add_text(command, "--html", given.html, "FILE", "The same as a page");
  command.add_flag("--timeline", given.timeline, "Tell it event by event");
  command.add_flag("--all", given.all, "In the timeline, every message too");
  command.add_flag("--list", given.list, "List engines, faults and mutants");
  for (const char* other : {"--seeds", "--first-seed", "--for"}) {
    command.get_option("--seed")->excludes(command.get_option(other));
  }
}

Result<SimPlan> to_plan(const SimArguments& arguments) {
  SimPlan plan{.timeline = arguments.timeline,
               .detail = arguments.all ? sim::Detail::everything : sim::Detail::story,
               .picture = {.name = "sim", .svg = arguments.svg, .html = arguments.html}};
  const auto engine = read_engine(arguments, plan.campaign.seed);
  if (!engine) return Unexpected{engine.error()};
  const auto world = read_world(arguments, plan.campaign.seed);
  if (!world) return Unexpected{world.error()};
  const auto seeds = read_seeds(arguments, plan);
  if (!seeds) return Unexpected{seeds.error()};
  return plan;
}

}  // namespace holdfast::cli
