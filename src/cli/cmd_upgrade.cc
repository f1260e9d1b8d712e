#include <memory>
#include <optional>

#include "cli/command.h"
#include "cli/script_lease.h"
#include "cli/stop_on_signal.h"
#include "cli/wait_notice.h"
#include "recipes/detached_read_write.h"

namespace holdfast::cli {
namespace {

struct ChangeArguments {
  LockArguments lock;
  std::string owner;
  std::string intent;
};

/// Who is in the way, too.
Error refused(const AcquireError& error) {
  Error refusal = error;
  if (error.code == Errc::busy && error.holder) refusal.message += ": " + describe(*error.holder);
  return refusal;
}

/// The same of a reader that is another lease now.
Error reading_again(const AcquireError& error, const std::string& name) {
  Error refusal = with_holder(error, name);
  refusal.remedy_text = "the reader stands as a new lease, which was printed";
  return refusal;
}

int upgrade(const Invocation& invocation, const ChangeArguments& arguments, Console& console) {
  const std::string& name = arguments.lock.name;
  const auto owner = owner_option(arguments.owner);
  if (!owner) return console.fail(owner.error());
  const auto options = to_acquire_options(arguments.lock);
  if (!options) return console.fail(options.error());
  const StopOnSignal stop;
  auto client = Client::connect(invocation.engine);
  if (!client) return console.fail(client.error());
  std::optional<Lease> again;
  auto writer = [&] {
    const WaitNotice notice{*client, {name}, console.format()};
    return recipes::upgrade_detached(*client, name, *owner, *options, stop.token(), again);
  }();
  if (writer) {
    return hand_to_script(
        {std::move(writer->intent), std::move(writer->lease)}, client->engine(), console);
  }
  if (!again && stop.signal() != 0) return exit_code_of_signal(stop.signal());
  if (!again) return console.fail(refused(writer.error()));
  const int handed = hand_to_script({{}, *std::move(again)}, client->engine(), console);
  if (handed != to_int(ExitCode::ok)) return handed;
  if (stop.signal() != 0) return exit_code_of_signal(stop.signal());
  return console.fail_on_stderr(reading_again(writer.error(), name));
}

int downgrade(const Invocation& invocation, const ChangeArguments& arguments, Console& console) {
  const std::string& name = arguments.lock.name;
  const auto owner = owner_option(arguments.owner);
  if (!owner) return console.fail(owner.error());
  const auto intent = owner_option(arguments.intent, "--intent");
  if (!intent) return console.fail(intent.error());
  const auto options = to_acquire_options(arguments.lock);
  if (!options) return console.fail(options.error());
  const StopOnSignal stop;
  auto client = Client::connect(invocation.engine);
  if (!client) return console.fail(client.error());
  auto reader = [&] {
    const WaitNotice notice{*client, {name}, console.format()};
    return recipes::downgrade_detached(*client, name, *owner, *intent, *options, stop.token());
  }();
  if (!reader && stop.signal() != 0) return exit_code_of_signal(stop.signal());
  if (!reader) return console.fail(with_holder(reader.error(), name));
  return hand_to_script({{}, *std::move(reader)}, client->engine(), console);
}

void add_change_arguments(CLI::App& command, ChangeArguments& arguments) {
  command.add_option("NAME", arguments.lock.name, "The lock")->required();
  command.add_option("--owner", arguments.owner, "The owner of the lease that is to change")
      ->type_name("ID")
      ->required();
  command
      .add_option(
          "--ttl", arguments.lock.ttl, "Lifetime of the new lease, 100ms to 24h (default 30s)")
      ->type_name("TIME");
  command
      .add_option(
          "--wait", arguments.lock.wait, "How long to wait: forever, 10s, or 0 (default forever)")
      ->type_name("TIME");
  command.add_option("--label", arguments.lock.label, "Text shown to whoever looks at the lock")
      ->type_name("TEXT");
}

}  // namespace

void add_upgrade(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("upgrade", "Make a writer of a reader, with no other between");
  auto arguments = std::make_shared<ChangeArguments>();
  add_change_arguments(*command, *arguments);
  command->footer(
      "\nThe reader is a lease of 'acquire NAME --shared'. It becomes an exclusive one, with an\n"
      "owner of its own and the owner of NAME~intent, which are printed as 'acquire' prints them:\n"
      "renew and release both, or 'downgrade' them. Other readers are waited for. No writer comes\n"
      "between that is a 'run' or 'acquire' with --writer, another upgrade, or a ReadWriteLock of\n"
      "a program's.\n"
      "\nExit codes: 75 somebody else is about to write, and the reader stands as it was: release\n"
      "it, and begin anew. Also 75, with a lease printed: other readers stayed, and the reader\n"
      "stands under that new owner. 76 the reader was lost: somebody may have written.\n"
      "What 'run NAME --shared' holds cannot be upgraded: its lease is that command's own.\n"
      "\nExamples:\n"
      "  reader=$(holdfast acquire catalog --shared --ttl 5m --json | jq -r .owner)\n"
      "  writer=$(holdfast upgrade catalog --owner \"$reader\" --ttl 5m --wait 10s --json) || "
      "exit\n"
      "  holdfast release catalog --owner \"$(echo \"$writer\" | jq -r .owner)\"\n"
      "  holdfast release catalog~intent --owner \"$(echo \"$writer\" | jq -r .intent_owner)\"");
  command->callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments](Console& console) {
      return upgrade(invocation, *arguments, console);
    };
  });
}

void add_downgrade(CLI::App& app, Invocation& invocation) {
  auto* command =
      app.add_subcommand("downgrade", "Make a reader of a writer, with no other between");
  auto arguments = std::make_shared<ChangeArguments>();
  add_change_arguments(*command, *arguments);
  command->add_option("--intent", arguments->intent, "The owner of NAME~intent that was printed")
      ->type_name("ID")
      ->required();
  command->footer(
      "\nThe writer is what 'upgrade' or 'acquire --writer' printed. It becomes a shared lease "
      "with\n"
      "an owner of its own, printed as 'acquire' prints it; the writer and its intent are over.\n"
      "\nExits 76 if the writer was lost: somebody else may have written, and nothing is held.\n"
      "\nExamples:\n"
      "  writer=$(holdfast acquire catalog --writer --ttl 5m --json) || exit\n"
      "  holdfast downgrade catalog --owner \"$(echo \"$writer\" | jq -r .owner)\" \\\n"
      "    --intent \"$(echo \"$writer\" | jq -r .intent_owner)\" --ttl 5m");
  command->callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments](Console& console) {
      return downgrade(invocation, *arguments, console);
    };
  });
}

}  // namespace holdfast::cli
