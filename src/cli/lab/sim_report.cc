#include "cli/lab/sim_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <tuple>

#include "sim/faults/fault_list.h"

namespace holdfast::cli {
namespace {

using Counts = std::array<std::uint64_t, sim::kFaultClasses>;

void print_row(Console& console, std::string_view title, std::string_view words) {
  console.print(fmt::format("  {:<18}{}", title, words));
}

std::string per_second(std::uint64_t count, Duration took) {
  const double seconds = std::chrono::duration<double>{took}.count();
  if (seconds <= 0) return "";
  return fmt::format(", {}/s",
                     grouped(static_cast<std::uint64_t>(static_cast<double>(count) / seconds)));
}

// In lines of a terminal's width, under each other.
std::string counts_in_words(const Counts& counts) {
  constexpr std::size_t kLine = 72;
  std::string words;
  std::size_t line = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const std::string word = fmt::format("{} {}", sim::kFaultNames[i], grouped(counts[i]));
    const bool full = line + word.size() > kLine;
    if (line > 0) words += full ? fmt::format("\n{:20}", "") : " · ";
    line = (full ? 0 : line) + word.size() + 3;
    words += word;
  }
  return words.empty() ? "none" : words;
}

std::string heading(const SimReport& report) {
  const sim::SeedOptions& options = report.options;
  std::string text = fmt::format("{}: {}", options.protocol->name, options.protocol->summary);
  if (options.mutant != nullptr) {
    text += fmt::format("\nbroken as {}: {}", options.mutant->name, options.mutant->summary);
  }
  return text;
}

std::string seeds_in_words(const SimReport& report) {
  const sim::Tally& tally = report.tally;
  if (tally.seeds == 0) return "none";
  const std::uint64_t last = report.first_seed + tally.seeds - 1;
  const std::string range =
      tally.seeds == 1
          ? fmt::format("1 (number {})", report.first_seed)
          : fmt::format("{} ({} to {})", grouped(tally.seeds), report.first_seed, last);
  return fmt::format(
      "{}, {} of them twice{}", range, tally.repeated, per_second(tally.seeds, report.took));
}

std::string lost_in_words(const SimReport& report) {
  const sim::Tally& tally = report.tally;
  if (tally.lost_updates == 0) return fmt::format("none of {} acknowledged", grouped(tally.writes));
  return fmt::format("{} of {} acknowledged, in {} of {} seeds",
                     grouped(tally.lost_updates),
                     grouped(tally.writes),
                     grouped(tally.losing_seeds),
                     grouped(tally.seeds));
}

std::string length_in_words(const sim::Shrunk& shrunk) {
  return shrunk.ending == sim::Ending::prefix
             ? fmt::format("{} events", grouped(shrunk.options.stop_after))
             : fmt::format("to its end, healed after {} of its events",
                           grouped(shrunk.options.events));
}

/// Faults, whether it goes on to the end, and events.
std::tuple<std::size_t, sim::Ending, std::uint64_t> complexity(const Finding& finding) {
  const sim::SeedOptions& options = finding.shrunk.options;
  std::size_t faults = 0;
  for (std::size_t i = 0; i < sim::kFaultClasses; ++i) {
    faults += options.faults.has(static_cast<sim::FaultClass>(i)) ? 1 : 0;
  }
  return {faults, finding.shrunk.ending, std::min(options.events, options.stop_after)};
}

void print_finding(Console& console, const Finding& finding) {
  const sim::Shrunk& shrunk = finding.shrunk;
  console.print("");
  console.print(
      console.paint(fmt::format("{} broken by seed {}: ", shrunk.violation.checker, finding.seed),
                    Tone::bad) +
      shrunk.violation.what);
  print_row(console, "fewest faults", sim::to_list(shrunk.options.faults));
  print_row(console, "shortest prefix", length_in_words(shrunk));
  print_row(console, "replay", console.paint(finding.replay, Tone::name));
}

Tone tone_of(sim::Mood mood) {
  switch (mood) {
    case sim::Mood::good:
      return Tone::good;
    case sim::Mood::bad:
      return Tone::bad;
    case sim::Mood::fault:
      return Tone::waiting;
    case sim::Mood::quiet:
      return Tone::faint;
    case sim::Mood::plain:
      break;
  }
  return Tone::plain;
}

}  // namespace

const Finding* simplest(const std::vector<Finding>& findings) {
  const auto found = std::ranges::min_element(findings, {}, complexity);
  return found == findings.end() ? nullptr : &*found;
}

std::vector<const Finding*> simplest_of_each(const std::vector<Finding>& findings) {
  std::vector<const Finding*> best;
  for (const Finding& finding : findings) {
    const auto same = std::ranges::find_if(best, [&](const Finding* other) {
      return other->shrunk.violation.checker == finding.shrunk.violation.checker;
    });
    if (same == best.end()) {
      best.push_back(&finding);
    } else if (complexity(finding) < complexity(**same)) {
      *same = &finding;
    }
  }
  return best;
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, " ");
  return digits;
}

void print(Console& console, const SimReport& report) {
  const sim::Tally& tally = report.tally;
  console.print(console.paint(heading(report), Tone::name));
  print_row(console, "seeds", seeds_in_words(report));
  print_row(console, "events", grouped(tally.events) + per_second(tally.events, report.took));
  print_row(console,
            "leases",
            fmt::format("{} granted, {} lost", grouped(tally.grants), grouped(tally.losses)));
  print_row(console, "late operations", grouped(tally.refused_stale) + " refused by the resource");
  print_row(console, "lost updates", lost_in_words(report));
  print_row(console, "seeds with faults", counts_in_words(tally.drawn));
  print_row(console, "two holders by", counts_in_words(tally.breaches));
  const std::string broken = tally.failing_seeds == 0
                                 ? console.paint("0", Tone::good)
                                 : console.paint(grouped(tally.failing_seeds), Tone::bad) + " of " +
                                       grouped(tally.seeds) + " seeds";
  print_row(console, "violations", broken);
  for (const Finding* finding : simplest_of_each(report.findings)) print_finding(console, *finding);
}

void print_timeline(Console& console, const SimReport& report, const TimelineChoice& choice) {
  const auto lines = sim::timeline(report.told, choice.detail);
  const std::size_t shown = std::min(choice.lines, lines.size());
  console.print("");
  console.print(shown == lines.size()
                    ? fmt::format("Seed {}, event by event:", report.told.seed)
                    : fmt::format("Seed {}, the last {} of {} lines (--timeline shows all):",
                                  report.told.seed,
                                  shown,
                                  lines.size()));
  for (std::size_t i = lines.size() - shown; i < lines.size(); ++i) {
    console.print(console.paint(sim::to_text(lines[i]), tone_of(lines[i].mood)));
  }
  for (const sim::Violation& violation : report.told.violations) {
    console.print(
        console.paint(fmt::format("{:>13}  {}", violation.checker, violation.what), Tone::bad));
  }
}

}  // namespace holdfast::cli
