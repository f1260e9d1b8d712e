#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <chrono>

#include "cli/lab/sim_report.h"
#include "sim/faults/fault_list.h"

namespace holdfast::cli {
namespace {

boost::json::object counts_json(const std::array<std::uint64_t, sim::kFaultClasses>& counts) {
  boost::json::object object;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) object[sim::kFaultNames[i]] = counts[i];
  }
  return object;
}

boost::json::array faults_json(sim::FaultSet faults) {
  boost::json::array names;
  for (std::size_t i = 0; i < sim::kFaultClasses; ++i) {
    if (faults.has(static_cast<sim::FaultClass>(i))) names.emplace_back(sim::kFaultNames[i]);
  }
  return names;
}

boost::json::object finding_json(const Finding& finding) {
  const sim::Shrunk& shrunk = finding.shrunk;
  boost::json::object object{{"checker", shrunk.violation.checker},
                             {"seed", finding.seed},
                             {"what", shrunk.violation.what},
                             {"faults", faults_json(shrunk.options.faults)},
                             {"stop_after", nullptr},
                             {"replay", finding.replay}};
  if (shrunk.ending == sim::Ending::prefix) object["stop_after"] = shrunk.options.stop_after;
  return object;
}

void print_engines(Console& console) {
  console.print(console.paint("Engines", Tone::name));
  for (const sim::Protocol& protocol : sim::protocols()) {
    console.print(fmt::format("  {:<30}{}", protocol.name, protocol.summary));
  }
}

void print_faults(Console& console) {
  console.print(console.paint("Faults", Tone::name));
  for (std::size_t i = 0; i < sim::kFaultClasses; ++i) {
    const auto kind = static_cast<sim::FaultClass>(i);
    console.print(fmt::format("  {:<30}{}{}",
                              sim::to_string(kind),
                              sim::summary_of(kind),
                              sim::may_break_exclusion(kind) ? " *" : ""));
  }
  console.print("  * two may hold a lock at once because of it; the resource protects");
}

void print_mutants(Console& console) {
  console.print(console.paint("Mutants", Tone::name));
  for (const sim::Mutant& mutant : sim::mutants()) {
    const std::string found = mutant.seeds == 0 ? "found by the model checker"
                                                : fmt::format("found by {}", mutant.checker);
    console.print(
        fmt::format("  {:<30}{}, {}: {}", mutant.name, mutant.protocol, found, mutant.summary));
  }
}

boost::json::object list_json() {
  boost::json::array engines;
  for (const sim::Protocol& protocol : sim::protocols()) {
    engines.push_back(boost::json::object{{"name", protocol.name},
                                          {"summary", protocol.summary},
                                          {"nodes", protocol.nodes},
                                          {"fenced", protocol.resource == sim::Register::fenced},
                                          {"faults", faults_json(protocol.faults)}});
  }
  boost::json::array faults;
  for (std::size_t i = 0; i < sim::kFaultClasses; ++i) {
    const auto kind = static_cast<sim::FaultClass>(i);
    faults.push_back(boost::json::object{{"name", sim::to_string(kind)},
                                         {"summary", sim::summary_of(kind)},
                                         {"may_break_exclusion", sim::may_break_exclusion(kind)}});
  }
  boost::json::array mutants;
  for (const sim::Mutant& mutant : sim::mutants()) {
    mutants.push_back(boost::json::object{{"name", mutant.name},
                                          {"summary", mutant.summary},
                                          {"engine", mutant.protocol},
                                          {"checker", mutant.checker},
                                          {"seeds", mutant.seeds}});
  }
  return {{"engines", std::move(engines)},
          {"faults", std::move(faults)},
          {"mutants", std::move(mutants)}};
}

}  // namespace

boost::json::object to_json(const SimReport& report) {
  const sim::Tally& tally = report.tally;
  boost::json::array violations;
  for (const Finding& finding : report.findings) violations.push_back(finding_json(finding));
  boost::json::object object{{"engine", report.options.protocol->name},
                             {"mutant", nullptr},
                             {"seeds", tally.seeds},
                             {"first_seed", report.first_seed},
                             {"repeated", tally.repeated},
                             {"events", tally.events},
                             {"grants", tally.grants},
                             {"losses", tally.losses},
                             {"refused_stale", tally.refused_stale},
                             {"writes", tally.writes},
                             {"lost_updates", tally.lost_updates},
                             {"losing_seeds", tally.losing_seeds},
                             {"faults", counts_json(tally.drawn)},
                             {"breaches", counts_json(tally.breaches)},
                             {"failing_seeds", tally.failing_seeds},
                             {"violations", std::move(violations)},
                             {"trace_hash", fmt::format("{:016x}", tally.trace_hash)}};
  if (report.options.mutant != nullptr) object["mutant"] = report.options.mutant->name;
  return object;
}

boost::json::array timeline_json(const SimReport& report, sim::Detail detail) {
  boost::json::array lines;
  for (const sim::TimelineLine& line : sim::timeline(report.told, detail)) {
    const std::chrono::duration<double, std::milli> at = line.when.time_since_epoch();
    lines.push_back(boost::json::object{{"at_ms", at.count()}, {"words", line.words}});
  }
  return lines;
}

void print_sim_list(Console& console) {
  if (console.json()) {
    console.print(list_json());
    return;
  }
  print_engines(console);
  console.print("");
  print_faults(console);
  console.print("");
  print_mutants(console);
}

}  // namespace holdfast::cli
