#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/duration.h"
#include "cli/text.h"

namespace holdfast::cli {
namespace {

struct RenewArguments {
  std::string name;
  std::string owner;
  std::string ttl{"30s"};
};

int renew(const Invocation& invocation, const RenewArguments& arguments, Console& console) {
  const auto owner = owner_option(arguments.owner);
  if (!owner) return console.fail(owner.error());
  const auto ttl = duration_option("--ttl", arguments.ttl);
  if (!ttl) return console.fail(ttl.error());

  auto client = Client::connect(invocation.engine);
  if (!client) return console.fail(client.error());
  const auto left = client->renew(arguments.name, *owner, *ttl);
  if (!left) return console.fail(left.error());

  const auto left_ms = std::chrono::duration_cast<Millis>(*left);
  if (console.json()) {
    console.print(boost::json::object{{"name", to_utf8(arguments.name)},
                                      {"ttl_ms", ttl->count()},
                                      {"valid_for_ms", left_ms.count()},
                                      {"engine", client->engine()}});
  } else {
    console.print(fmt::format("{} renewed for {}",
                              console.paint(printable(arguments.name), Tone::name),
                              format_duration(left_ms)));
  }
  return to_int(ExitCode::ok);
}

}  // namespace

void add_renew(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("renew", "Extend a lease taken by 'acquire'");
  auto arguments = std::make_shared<RenewArguments>();
  command->add_option("NAME", arguments->name, "The lock")->required();
  command->add_option("--owner", arguments->owner, "The owner 'acquire' printed")
      ->type_name("ID")
      ->required();
  command->add_option("--ttl", arguments->ttl, "Lifetime from now, 100ms to 24h (default 30s)")
      ->type_name("TIME");
  command->footer(
      "\nExits 76 if the lease is lost: somebody else may hold the lock already.\n"
      "\nExamples:\n"
      "  holdfast renew deploy --owner \"$owner\" --ttl 5m");
  command->callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments](Console& console) {
      return renew(invocation, *arguments, console);
    };
  });
}

}  // namespace holdfast::cli
