#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/lab/demo.h"
#include "cli/lab/quorum_command.h"
#include "cli/lab/reports.h"
#include "cli/lab/sim_command.h"
#include "cli/text.h"

namespace holdfast::cli {
namespace {

constexpr Millis kTtlLongest{60'000};

struct LabArguments {
  DemoOptions demo;
  std::string ttl{"300ms"};
  std::int64_t processes{4};
  std::int64_t rounds{100};
};

using Shared = std::shared_ptr<LabArguments>;

Result<Millis> ttl_of(const LabArguments& arguments) {
  const auto ttl = duration_option("--ttl", arguments.ttl);
  if (ttl && (*ttl < kTtlMin || *ttl > kTtlLongest)) {
    return Unexpected{Error{Errc::invalid_argument,
                            fmt::format("--ttl: {} is out of range", printable(arguments.ttl)),
                            "use 100ms to 1m"}};
  }
  return ttl;
}

CLI::App* add_demo(CLI::App& lab, const Shared& arguments, const char* name, const char* what) {
  arguments->demo.name = name;
  auto* demo = lab.add_subcommand(name, what);
  demo->add_option("--html", arguments->demo.html, "Write the picture as a page to this file")
      ->type_name("FILE");
  demo->add_option("--svg", arguments->demo.svg, "Write the picture as SVG to this file")
      ->type_name("FILE");
  demo->add_flag("--no-picture", arguments->demo.no_picture, "Write no picture");
  demo->add_flag("--keep", arguments->demo.keep, "Leave the engine's temporary directory behind");
  return demo;
}

void add_ttl(CLI::App& demo, LabArguments& arguments) {
  demo.add_option("--ttl", arguments.ttl, "Lifetime of the leases, 100ms to 1m (default 300ms)")
      ->type_name("TIME");
}

void add_pause(CLI::App& lab, Invocation& invocation) {
  const auto arguments = std::make_shared<LabArguments>();
  auto* demo = add_demo(
      lab, arguments, "pause", "A holder is paused past its lease, and writes when it wakes");
  add_ttl(*demo, *arguments);
  demo->footer(
      "\nExamples:\n"
      "  holdfast lab pause\n"
      "  holdfast lab pause --ttl 2s --html story.html");
  demo->callback([&invocation, arguments] {
    invocation.action = [arguments](Console& console) {
      const auto ttl = ttl_of(*arguments);
      if (!ttl) return console.fail(ttl.error());
      return demonstrate(console, arguments->demo, [&](const Setting& given) {
        return lab::run_pause({given.engine, *ttl, given.interrupt}, given.progress);
      });
    };
  });
}

void add_naive(CLI::App& lab, Invocation& invocation) {
  const auto arguments = std::make_shared<LabArguments>();
  auto* demo = add_demo(
      lab, arguments, "naive", "A lock that looks first and takes it then, losing updates");
  demo->add_option("--processes", arguments->processes, "How many processes, 2 to 64 (default 4)")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{2}, lab::kProcessesMax).description(""));
  demo->add_option("--rounds", arguments->rounds, "Increments of each, 1 to 10000 (default 100)")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, lab::kRoundsMax).description(""));
  demo->footer(
      "\nExamples:\n"
      "  holdfast lab naive\n"
      "  holdfast lab naive --processes 8 --rounds 500 --no-picture");
  demo->callback([&invocation, arguments] {
    invocation.action = [arguments](Console& console) {
      return demonstrate(console, arguments->demo, [&](const Setting& given) {
        return lab::run_naive(
            {given.engine, arguments->processes, arguments->rounds, given.interrupt},
            given.progress);
      });
    };
  });
}

void add_bank(CLI::App& lab, Invocation& invocation) {
  const auto arguments = std::make_shared<LabArguments>();
  auto* demo =
      add_demo(lab, arguments, "bank", "Two processes withdraw 80 from an account of 100 at once");
  add_ttl(*demo, *arguments);
  demo->footer(
      "\nExamples:\n"
      "  holdfast lab bank\n"
      "  holdfast lab bank --json | jq '.variants[] | {variant, paid_out, balance}'");
  demo->callback([&invocation, arguments] {
    invocation.action = [arguments](Console& console) {
      const auto ttl = ttl_of(*arguments);
      if (!ttl) return console.fail(ttl.error());
      return demonstrate(console, arguments->demo, [&](const Setting& given) {
        return lab::run_bank({given.engine, *ttl, given.interrupt}, given.progress);
      });
    };
  });
}

}  // namespace

void add_lab(CLI::App& app, Invocation& invocation) {
  auto* lab = app.add_subcommand("lab", "Demonstrations with real processes, and simulated worlds");
  lab->footer(
      "\nEach leaves nothing behind but its picture, and ends with 1 when something did not end as "
      "it must.\n"
      "\nExamples:\n"
      "  holdfast lab pause     why a lock alone is not safe, and what makes it so\n"
      "  holdfast lab naive     a lock that is none\n"
      "  holdfast lab bank      paid twice\n"
      "  holdfast lab sim       the protocols in simulated worlds, faults by the thousand\n"
      "  holdfast lab quorum    how often no majority of nodes is up");
  lab->require_subcommand(0, 1);
  add_pause(*lab, invocation);
  add_naive(*lab, invocation);
  add_bank(*lab, invocation);
  add_sim(app, *lab, invocation);
  add_quorum(*lab, invocation);
  lab->callback([&invocation, lab] {
    if (!lab->get_subcommands().empty() || !lab->remaining().empty()) return;
    invocation.action = [](Console& console) {
      return console.fail_usage("no demonstration was named",
                                "use: holdfast lab pause, naive, bank, sim or quorum");
    };
  });
}

}  // namespace holdfast::cli
