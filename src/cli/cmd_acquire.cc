#include <memory>
#include <optional>

#include "cli/command.h"
#include "cli/script_lease.h"
#include "cli/stop_on_signal.h"
#include "cli/wait_notice.h"
#include "recipes/detached_read_write.h"

namespace holdfast::cli {
namespace {

Result<ScriptLease, AcquireError> take(Client& client,
                                       const LockArguments& arguments,
                                       const AcquireOptions& options,
                                       std::stop_token stop,
                                       const Console& console) {
  const WaitNotice notice{client, {arguments.name}, console.format()};
  if (arguments.writer) {
    auto writer = recipes::write_detached(client, arguments.name, options, std::move(stop));
    if (!writer) return Unexpected{std::move(writer).error()};
    return ScriptLease{std::move(writer->intent), std::move(writer->lease)};
  }
  auto lease = client.acquire(arguments.name, options, std::move(stop));
  if (!lease) return Unexpected{std::move(lease).error()};
  return ScriptLease{std::nullopt, *std::move(lease)};
}

int acquire(const Invocation& invocation, const LockArguments& arguments, Console& console) {
  auto options = to_acquire_options(arguments);
  if (!options) return console.fail(options.error());
  options->kind = LeaseKind::detached;

  const StopOnSignal stop;
  auto client = Client::connect(invocation.engine);
  if (!client) return console.fail(client.error());
  auto lease = take(*client, arguments, *options, stop.token(), console);
  if (!lease && stop.signal() != 0) return exit_code_of_signal(stop.signal());
  if (!lease) return console.fail(with_holder(lease.error(), arguments.name));
  return hand_to_script(*std::move(lease), client->engine(), console);
}

}  // namespace

void add_acquire(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("acquire", "Take a lock for a script; it lasts for its TTL");
  auto arguments = std::make_shared<LockArguments>();
  add_lock_arguments(*command, *arguments);
  command->footer(
      "\nThe lease outlives this command and is not renewed: use 'renew' and 'release' with the\n"
      "owner it prints. Where a command can be wrapped, 'run' is the safer choice.\n"
      "\nWith --writer it takes NAME~intent, too, and prints the owner of that: renew and release\n"
      "both. 'upgrade' and 'downgrade' make writers of readers and readers of writers.\n"
      "\nExamples:\n"
      "  holdfast acquire deploy --ttl 5m\n"
      "  lease=$(holdfast acquire deploy --ttl 5m --wait 10s --json) || exit\n"
      "  owner=$(echo \"$lease\" | jq -r .owner)\n"
      "  holdfast release deploy --owner \"$owner\"\n"
      "  holdfast acquire catalog --shared --ttl 5m");
  command->callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments](Console& console) {
      return acquire(invocation, *arguments, console);
    };
  });
}

}  // namespace holdfast::cli
