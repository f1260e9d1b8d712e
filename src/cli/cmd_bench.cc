#include <fmt/format.h>

#include <memory>

#include "cli/bench.h"
#include "cli/command.h"
#include "cli/text.h"

namespace holdfast::cli {

void add_bench(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("bench", "Measure an engine on this machine");
  auto engine = std::make_shared<std::string>();
  command->add_option("ENGINE", *engine, "The engine to measure: local, redis or etcd")->required();
  auto all_peers = std::make_shared<bool>(false);
  command->add_flag("--peers",
                    *all_peers,
                    "redis, etcd: also measure other lock clients, fetched from their registries");
  command->footer(
      "\nExamples:\n"
      "  holdfast bench local\n"
      "  holdfast bench redis\n"
      "  holdfast bench etcd --peers\n"
      "  holdfast bench local --json | jq '.cases[] | {name, ratio, met}'");
  command->callback([&invocation, engine, all_peers] {
    invocation.action = [engine, all_peers](Console& console) {
      if (*engine == "local" || *engine == "local:") {
        return run_bench({.engine = BenchEngine::local, .format = console.format()});
      }
      if (*engine == "redis" || *engine == "etcd") {
        return run_bench({.engine = *engine == "redis" ? BenchEngine::redis : BenchEngine::etcd,
                          .peers = *all_peers ? bench::Peers::all : bench::Peers::at_hand,
                          .format = console.format()});
      }
      return console.fail(
          {Errc::invalid_argument,
           fmt::format("no benchmark for the engine '{}'", printable(*engine)),
           "use: holdfast bench local, holdfast bench redis or holdfast bench etcd"});
    };
  });
}

}  // namespace holdfast::cli
