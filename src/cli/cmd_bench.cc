#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "cli/bench.h"
#include "cli/command.h"
#include "cli/compare/compare_command.h"
#include "cli/text.h"

namespace holdfast::cli {
namespace {

struct Named {
  std::string_view name;
  BenchEngine engine;
};
constexpr std::array<Named, 4> kWithServers{{{"redis", BenchEngine::redis},
                                             {"etcd", BenchEngine::etcd},
                                             {"zookeeper", BenchEngine::zookeeper},
                                             {"postgres", BenchEngine::postgres}}};

}  // namespace

void add_bench(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("bench", "Measure engines on this machine");
  command->require_subcommand(0, 1);
  auto engine = std::make_shared<std::string>();
  command->add_option(
      "ENGINE", *engine, "The engine to measure: local, redis, etcd, zookeeper or postgres");
  auto all_peers = std::make_shared<bool>(false);
  command->add_flag("--peers",
                    *all_peers,
                    "redis, etcd: also measure other lock clients, fetched from their registries");
  command->footer(
      "\nExamples:\n"
      "  holdfast bench local\n"
      "  holdfast bench redis\n"
      "  holdfast bench etcd --peers\n"
      "  holdfast bench zookeeper\n"
      "  holdfast bench postgres\n"
      "  holdfast bench compare --svg engines.svg\n"
      "  holdfast bench local --json | jq '.cases[] | {name, ratio, met}'");
  add_compare(*command, invocation);
  command->callback([&invocation, command, engine, all_peers] {
    if (!command->get_subcommands().empty()) return;
    invocation.action = [engine, all_peers](Console& console) {
      if (engine->empty()) {
        return console.fail_usage("no engine was named",
                                  "use: holdfast bench local, redis, etcd, zookeeper, postgres, or "
                                  "compare");
      }
      if (*engine == "local" || *engine == "local:") {
        return run_bench({.engine = BenchEngine::local, .format = console.format()});
      }
      const auto known = std::ranges::find(kWithServers, *engine, &Named::name);
      if (known != kWithServers.end()) {
        return run_bench({.engine = known->engine,
                          .peers = *all_peers ? bench::Peers::all : bench::Peers::at_hand,
                          .format = console.format()});
      }
      return console.fail(
          {Errc::invalid_argument,
           fmt::format("no benchmark for the engine '{}'", printable(*engine)),
           "use: holdfast bench local, redis, etcd, zookeeper, postgres, or compare"});
    };
  });
}

}  // namespace holdfast::cli
