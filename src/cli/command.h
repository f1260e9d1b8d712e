// What every subcommand is made of: it adds its options to the command line, and leaves an action.

#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "cli/console.h"
#include "holdfast/client.h"
#include "holdfast/options.h"

namespace holdfast::cli {

/// The command line as far as it is common to all commands. Filled while it is parsed.
struct Invocation {
  /// --engine, HOLDFAST_ENGINE or "local:".
  std::string engine;
  bool json{false};
  /// What followed `--`, for commands that run another program.
  std::vector<std::string> program;
  /// What the chosen command does; gives the exit code.
  std::function<int(Console&)> action;
};

// One function per command. The app and the invocation outlive the parse and the action.
void add_run(CLI::App& app, Invocation& invocation);
void add_elect(CLI::App& app, Invocation& invocation);
void add_leader(CLI::App& app, Invocation& invocation);
void add_acquire(CLI::App& app, Invocation& invocation);
void add_renew(CLI::App& app, Invocation& invocation);
void add_release(CLI::App& app, Invocation& invocation);
void add_upgrade(CLI::App& app, Invocation& invocation);
void add_downgrade(CLI::App& app, Invocation& invocation);
void add_ls(CLI::App& app, Invocation& invocation);
void add_show(CLI::App& app, Invocation& invocation);
void add_watch(CLI::App& app, Invocation& invocation);
void add_top(CLI::App& app, Invocation& invocation);
void add_advise(CLI::App& app, Invocation& invocation);
void add_break(CLI::App& app, Invocation& invocation);
void add_check_sequencer(CLI::App& app, Invocation& invocation);
void add_open(CLI::App& app, Invocation& invocation);
void add_get(CLI::App& app, Invocation& invocation);
void add_put(CLI::App& app, Invocation& invocation);
void add_erase(CLI::App& app, Invocation& invocation);
void add_check(CLI::App& app, Invocation& invocation);
void add_update(CLI::App& app, Invocation& invocation);
void add_once(CLI::App& app, Invocation& invocation);
void add_once_runner(CLI::App& app, Invocation& invocation);
void add_limit(CLI::App& app, Invocation& invocation);
void add_store(CLI::App& app, Invocation& invocation);
void add_redlock(CLI::App& app, Invocation& invocation);
void add_install(CLI::App& app, Invocation& invocation);
void add_uninstall(CLI::App& app, Invocation& invocation);
void add_bench(CLI::App& app, Invocation& invocation);
void add_doctor(CLI::App& app, Invocation& invocation);
void add_lab(CLI::App& app, Invocation& invocation);
void add_completion(CLI::App& app, Invocation& invocation);

/// The options `run` and `acquire` share, as typed.
struct LockArguments {
  std::string name;
  std::string ttl{"30s"};
  std::string wait{"forever"};
  std::string lock_delay{"0"};
  std::string label;
  std::string permits;
  bool shared{false};
  /// Exclusive, and with the intent to write: as holdfast/read_write.h has writers.
  bool writer{false};
};

void add_lock_arguments(CLI::App& command, LockArguments& arguments);

/// Views in the options point into `arguments`. invalid_argument names the option.
Result<AcquireOptions> to_acquire_options(const LockArguments& arguments);

/// As parse_duration(), with the option's name in front of the error.
Result<Millis> duration_option(std::string_view option, std::string_view text);

/// An owner as typed after `option`. invalid_argument unless it is 32 hexadecimal digits.
Result<Owner> owner_option(std::string_view text, std::string_view option = "--owner");

/// "host pid 4711, since 12:30:05, "label"" for messages.
std::string describe(const Contender& contender);

/// Adds who is in the way to the message of a busy or timeout.
Error with_holder(const AcquireError& error, std::string_view name);

}  // namespace holdfast::cli
