#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/text.h"

namespace holdfast::cli {
namespace {

struct ReleaseArguments {
  std::string name;
  std::string owner;
};

Error error_of(ReleaseOutcome outcome, const std::string& name) {
  if (outcome == ReleaseOutcome::already_lost) {
    return {Errc::lost,
            fmt::format("the lease on '{}' had been lost before it was released", name),
            "somebody else may have held the lock meanwhile: check what was done under it"};
  }
  return {Errc::unknown_outcome,
          fmt::format("no answer to the release of '{}'", name),
          "release it again; the engine frees it at the end of its TTL at the latest"};
}

int release(const Invocation& invocation, const ReleaseArguments& arguments, Console& console) {
  const auto owner = owner_option(arguments.owner);
  if (!owner) return console.fail(owner.error());
  auto client = Client::connect(invocation.engine);
  if (!client) return console.fail(client.error());
  const auto outcome = client->release(arguments.name, *owner);
  if (!outcome) return console.fail(outcome.error());
  if (*outcome != ReleaseOutcome::released) {
    return console.fail(error_of(*outcome, arguments.name));
  }
  if (console.json()) {
    console.print(boost::json::object{{"name", to_utf8(arguments.name)},
                                      {"outcome", to_string(*outcome)},
                                      {"engine", client->engine()}});
  } else {
    console.print(fmt::format("{} released", console.paint(printable(arguments.name), Tone::name)));
  }
  return to_int(ExitCode::ok);
}

}  // namespace

void add_release(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("release", "Give up a lease taken by 'acquire'");
  auto arguments = std::make_shared<ReleaseArguments>();
  command->add_option("NAME", arguments->name, "The lock")->required();
  command->add_option("--owner", arguments->owner, "The owner 'acquire' printed")
      ->type_name("ID")
      ->required();
  command->footer(
      "\nExits 76 if the lease had been lost before: check what was done under it.\n"
      "\nExamples:\n"
      "  holdfast release deploy --owner \"$owner\"");
  command->callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments](Console& console) {
      return release(invocation, *arguments, console);
    };
  });
}

}  // namespace holdfast::cli
