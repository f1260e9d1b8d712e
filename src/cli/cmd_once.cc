#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/once/once_arguments.h"
#include "cli/run/run_program.h"
#include "cli/store/store_json.h"
#include "core/once.h"

namespace holdfast::cli {
namespace {

/// The lock is held by `run`, and this very program runs inside it: so that a runner that is killed
/// or stopped takes its program along before anybody else becomes the runner.
RunOptions to_run_options(const Invocation& invocation,
                          const OnceArguments& arguments,
                          const OnceOptions& once) {
  RunOptions options;
  options.engine = invocation.engine;
  options.names = {core::once_lock(arguments.key)};
  options.acquire = {.ttl = once.ttl, .wait = once.wait, .kind = LeaseKind::detached};
  options.format = invocation.json ? Format::json : Format::human;
  options.explain = [course = core::OnceCourse{arguments.key, once, BootClock::now()}](
                        const AcquireError& error) -> Error {
    const StoreError refusal = course.not_the_runner(error);
    return static_cast<const Error&>(refusal);
  };
  options.program = {"/proc/self/exe", "--engine", invocation.engine};
  if (invocation.json) options.program.emplace_back("--json");
  for (const std::string& word : {std::string{kOnceRunner},
                                  "--keep=" + arguments.keep,
                                  "--on-failure=" + arguments.on_failure,
                                  "--key=" + arguments.key,
                                  std::string{"--"}}) {
    options.program.push_back(word);
  }
  for (const std::string& word : invocation.program) options.program.push_back(word);
  return options;
}

/// In a scope of its own: nothing of the connection may be left when `run` forks.
Result<std::optional<OnceResult>, StoreError> look(const std::string& engine,
                                                   const std::string& key) {
  auto store = Store::connect(engine);
  if (!store) return Unexpected{StoreError{store.error()}};
  return store->once_result(key);
}

int once(const Invocation& invocation, const OnceArguments& arguments, Console& console) {
  if (invocation.program.empty()) {
    return console.fail_usage("no program to run was given",
                              "put it after --, as in: holdfast once KEY -- PROGRAM ARGUMENT");
  }
  const auto options = to_once_options(arguments);
  if (!options) return console.fail(options.error());
  auto found = look(invocation.engine, arguments.key);
  if (!found) return fail_store(found.error(), console);
  if (*found) {
    return print_once(arguments.key, {.result = std::move(**found), .ran = Ran::before}, console);
  }
  return run_program(to_run_options(invocation, arguments, *options), console).code;
}

}  // namespace

void add_once(CLI::App& app, Invocation& invocation) {
  auto* command =
      app.add_subcommand("once", "Run a program once per key; later calls get its output");
  auto arguments = std::make_shared<OnceArguments>();
  add_once_arguments(*command, *arguments);
  command->footer(
      "\nThe first call runs the program and stores what it prints on stdout, at most 1 MiB, and\n"
      "its exit code. Calls meanwhile wait for that, later ones get it. The runner holds the lock\n"
      "once:KEY; if it dies, its program is ended and the next call runs. One result is stored,\n"
      "always; the effect may repeat after a crash: inside the program, 'get' and 'put' are "
      "fenced\n"
      "by the runner's token. A program that fails when it was interrupted, or cannot be started,\n"
      "has no result.\n"
      "\nExit codes: the program's own, also when it ran before; 75 still running elsewhere; 76\n"
      "lease lost.\n"
      "\nExamples:\n"
      "  holdfast once invoice/4711 -- ./send-invoice 4711\n"
      "  holdfast once deploy/1.4 --keep 7d --on-failure retry --wait 0 -- ./deploy.sh 1.4");
  command->callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments](Console& console) {
      return once(invocation, *arguments, console);
    };
  });
}

}  // namespace holdfast::cli
