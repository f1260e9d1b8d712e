#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <memory>
#include <optional>

#include "cli/command.h"
#include "cli/text.h"
#include "client/diagnose.h"

namespace holdfast::cli {
namespace {

boost::json::object to_json(const Diagnosis& diagnosis) {
  boost::json::array findings;
  for (const core::Finding& finding : diagnosis.findings) {
    findings.push_back(boost::json::object{{"id", finding.id},
                                           {"severity", to_string(finding.severity)},
                                           {"message", finding.message},
                                           {"fix", finding.fix}});
  }
  return {{"engine", diagnosis.engine},
          {"safe", core::is_safe(diagnosis.findings)},
          {"findings", std::move(findings)}};
}

void print_text(const Diagnosis& diagnosis, Console& console) {
  console.print(fmt::format("engine   {}", diagnosis.engine));
  for (const core::Finding& finding : diagnosis.findings) {
    const bool danger = finding.severity == core::Severity::danger;
    const std::string severity{to_string(finding.severity)};
    console.print(fmt::format(
        "{}  {}",
        console.paint(fmt::format("{:<7}", severity), danger ? Tone::bad : Tone::waiting),
        printable(finding.message)));
    console.print(
        fmt::format("         {} {}", console.paint("fix:", Tone::faint), printable(finding.fix)));
  }
  if (diagnosis.findings.empty()) {
    console.print(fmt::format("{}  nothing was found wrong", console.paint("good   ", Tone::good)));
  }
}

int examine(const Invocation& invocation, const std::string& asked, Console& console) {
  std::optional<Millis> ttl;
  if (!asked.empty()) {
    const auto given = duration_option("--ttl", asked);
    if (!given) return console.fail(given.error());
    ttl = *given;
  }
  const auto diagnosis = diagnose(invocation.engine, ttl);
  if (!diagnosis) return console.fail(diagnosis.error());
  if (console.json()) {
    console.print(to_json(*diagnosis));
  } else {
    print_text(*diagnosis, console);
  }
  return to_int(diagnosis->findings.empty() ? ExitCode::ok : ExitCode::finding);
}

}  // namespace

void add_doctor(CLI::App& app, Invocation& invocation) {
  auto* command =
      app.add_subcommand("doctor", "Tell whether locks are safe as this engine is set up");
  auto ttl = std::make_shared<std::string>();
  command
      ->add_option("--ttl", *ttl, "The TTL that locks will ask for, against what the engine grants")
      ->type_name("TIME");
  command->footer(
      "\nEach finding says what can go wrong and which setting to change. Exits with 1 when there "
      "is\n"
      "one. 'danger': two may hold a lock at once, or locks do not work.\n"
      "\nExamples:\n"
      "  holdfast doctor --engine redis://cache.example:6379\n"
      "  holdfast doctor --engine zookeeper://a,b,c --ttl 2s\n"
      "  holdfast doctor --json | jq -r '.findings[].fix'");
  command->callback([&invocation, ttl] {
    invocation.action = [&invocation, ttl](Console& console) {
      return examine(invocation, *ttl, console);
    };
  });
}

}  // namespace holdfast::cli
