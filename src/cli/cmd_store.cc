#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/store/store_json.h"
#include "cli/text.h"

namespace holdfast::cli {
namespace {

struct RebaseArguments {
  std::string resource;
  std::string lock;
  std::string lock_engine;
  std::string why;
};

int rebase(const Invocation& invocation, const RebaseArguments& arguments, Console& console) {
  if (!is_printable(arguments.why) || arguments.why.empty()) {
    return console.fail({Errc::invalid_argument,
                         "--why: empty, or not UTF-8 without control characters",
                         "say why, for the record"});
  }
  auto client = Client::connect(invocation.engine);
  if (!client) return console.fail(client.error());
  auto locks = arguments.lock_engine.empty() ? Result<Client>{*client}
                                             : Client::connect(arguments.lock_engine);
  if (!locks) return console.fail(locks.error());
  auto store = client->store();
  if (!store) return console.fail(store.error());
  const std::string& lock = arguments.lock.empty() ? arguments.resource : arguments.lock;
  const auto moved = store->rebase(arguments.resource, locks->domain(), lock, arguments.why);
  if (!moved) return fail_store(moved.error(), console);
  if (console.json()) {
    console.print(boost::json::object{{"key", to_utf8(arguments.resource)},
                                      {"lock", to_utf8(lock)},
                                      {"lock_engine", locks->engine()}});
  } else {
    console.print(fmt::format("{} belongs to the lock {} of {} now",
                              console.paint(printable(arguments.resource), Tone::name),
                              console.paint(printable(lock), Tone::name),
                              locks->engine()));
  }
  return to_int(ExitCode::ok);
}

void add_rebase(CLI::App& store, Invocation& invocation) {
  auto* command = store.add_subcommand("rebase", "Make a resource belong to another lock");
  auto arguments = std::make_shared<RebaseArguments>();
  command->add_option("RESOURCE", arguments->resource, "The resource")->required();
  command->add_option("--lock", arguments->lock, "Its lock from now on (default: of the same name)")
      ->type_name("NAME");
  command
      ->add_option("--lock-engine",
                   arguments->lock_engine,
                   "The engine of that lock (default: the store's, --engine)")
      ->type_name("URL");
  command->add_option("--why", arguments->why, "The reason, for the engine's audit record")
      ->type_name("TEXT")
      ->required();
  command->footer(
      "\nOnly when nobody uses the resource: it forgets the tokens it has seen, and the value\n"
      "stays. Tokens of the old lock are refused from then on. Asks no question.\n"
      "\nExamples:\n"
      "  holdfast store rebase ledger --lock ledger/v2 --why 'split, ticket 812'\n"
      "  holdfast store rebase ledger --lock-engine local:/srv/locks --why 'moved to /srv'");
  command->callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments](Console& console) {
      return rebase(invocation, *arguments, console);
    };
  });
}

}  // namespace

void add_store(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("store", "For administrators of the store");
  command->require_subcommand(0, 1);
  command->footer(
      "\n'holdfast store rebase --help' tells more.\n"
      "\nExamples:\n"
      "  holdfast store rebase ledger --lock ledger/v2 --why 'split, ticket 812'");
  add_rebase(*command, invocation);
}

}  // namespace holdfast::cli
