#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/duration.h"
#include "cli/json.h"
#include "cli/stop_on_signal.h"
#include "cli/text.h"
#include "cli/wait_notice.h"
#include "cli/wall_time.h"

namespace holdfast::cli {
namespace {

void print_lease(const Lease& lease, const std::string& engine, Console& console) {
  if (console.json()) {
    console.print(lease_json(lease, engine));
    return;
  }
  const auto left = std::chrono::duration_cast<Millis>(lease.valid_for());
  console.print(fmt::format("name       {}", console.paint(printable(lease.name()), Tone::name)));
  console.print(fmt::format("mode       {}", to_string(lease.mode())));
  console.print(fmt::format("token      {}", lease.token().value()));
  console.print(fmt::format("owner      {}", lease.owner().to_string()));
  console.print(fmt::format(
      "deadline   {} (in {})", wall_time(wall_now_ms() + left.count()), format_duration(left)));
  console.print(fmt::format("ttl        {}", format_duration(lease.ttl())));
  console.print(fmt::format("engine     {}", engine));
  console.print(fmt::format("sequencer  {}", lease.sequencer()));
}

int acquire(const Invocation& invocation, const LockArguments& arguments, Console& console) {
  auto options = to_acquire_options(arguments);
  if (!options) return console.fail(options.error());
  options->kind = LeaseKind::detached;

  const StopOnSignal stop;
  auto client = Client::connect(invocation.engine);
  if (!client) return console.fail(client.error());
  auto lease = [&] {
    const WaitNotice notice{*client, {arguments.name}, console.format()};
    return client->acquire(arguments.name, *options, stop.token());
  }();
  if (!lease && stop.signal() != 0) return exit_code_of_signal(stop.signal());
  if (!lease) return console.fail(with_holder(lease.error(), arguments.name));

  print_lease(*lease, client->engine(), console);
  // Nobody will ever know the owner of a lease that could not be printed.
  if (std::fflush(stdout) != 0) {
    (void)lease->release();
    return console.finish(to_int(ExitCode::io));
  }
  const auto detached = lease->detach();
  return detached ? to_int(ExitCode::ok) : console.fail_on_stderr(detached.error());
}

}  // namespace

void add_acquire(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("acquire", "Take a lock for a script; it lasts for its TTL");
  auto arguments = std::make_shared<LockArguments>();
  add_lock_arguments(*command, *arguments);
  command->footer(
      "\nThe lease outlives this command and is not renewed: use 'renew' and 'release' with the\n"
      "owner it prints. Where a command can be wrapped, 'run' is the safer choice.\n"
      "\nExamples:\n"
      "  holdfast acquire deploy --ttl 5m\n"
      "  lease=$(holdfast acquire deploy --ttl 5m --wait 10s --json) || exit\n"
      "  owner=$(echo \"$lease\" | jq -r .owner)\n"
      "  holdfast release deploy --owner \"$owner\"");
  command->callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments](Console& console) {
      return acquire(invocation, *arguments, console);
    };
  });
}

}  // namespace holdfast::cli
