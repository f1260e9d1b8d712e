#include <fcntl.h>
#include <fmt/format.h>

#include <charconv>
#include <memory>

#include "cli/command.h"
#include "cli/duration.h"
#include "cli/run/run_program.h"
#include "cli/text.h"
#include "core/limits.h"

namespace holdfast::cli {
namespace {

struct RunArguments {
  LockArguments lock;
  std::string grace{"5s"};
  std::string status_fd;
};

Result<int> parse_status_fd(const std::string& text) {
  if (text.empty()) return -1;
  int fd = -1;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, fd);
  const bool number = error == std::errc{} && stopped == end && fd >= 0;
  const int flags = number ? fcntl(fd, F_GETFL) : -1;
  if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY) return fd;
  return Unexpected{
      Error{Errc::invalid_argument,
            fmt::format("--status-fd: '{}' is not a descriptor open for writing", printable(text)),
            "open it first, as in: holdfast run x --status-fd 3 3>status -- cmd"}};
}

Result<RunOptions> to_run_options(const Invocation& invocation, const RunArguments& arguments) {
  RunOptions options;
  options.engine = invocation.engine;
  options.name = arguments.lock.name;
  options.program = invocation.program;
  options.explain = [name = options.name](const AcquireError& error) {
    return with_holder(error, name);
  };
  options.format = invocation.json ? Format::json : Format::human;
  const auto acquire = to_acquire_options(arguments.lock);
  if (!acquire) return Unexpected{acquire.error()};
  options.acquire = *acquire;
  options.acquire.kind = LeaseKind::detached;
  const auto grace = duration_option("--grace", arguments.grace);
  if (!grace) return Unexpected{grace.error()};
  options.grace = std::min(*grace, kTtlMax);
  const auto status_fd = parse_status_fd(arguments.status_fd);
  if (!status_fd) return Unexpected{status_fd.error()};
  options.status_fd = *status_fd;
  // Known before a guardian is started in vain.
  if (auto name = core::check_name(options.name); !name) return Unexpected{name.error()};
  if (auto valid = core::check_options(options.acquire); !valid) return Unexpected{valid.error()};
  return options;
}

int run(const Invocation& invocation, const RunArguments& arguments, Console& console) {
  if (invocation.program.empty()) {
    return console.fail_usage("no program to run was given",
                              "put it after --, as in: holdfast run NAME -- PROGRAM ARGUMENT");
  }
  const auto options = to_run_options(invocation, arguments);
  return options ? run_program(*options, console) : console.fail(options.error());
}

}  // namespace

void add_run(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("run", "Run a program while holding a lock");
  auto arguments = std::make_shared<RunArguments>();
  add_lock_arguments(*command, arguments->lock);
  command
      ->add_option("--grace",
                   arguments->grace,
                   "Time between TERM and KILL when the program must end (default 5s)")
      ->type_name("TIME");
  command
      ->add_option("--status-fd",
                   arguments->status_fd,
                   "Write what Holdfast itself did to this descriptor, as JSON lines")
      ->type_name("N");
  command->footer(
      "\nThe program gets HOLDFAST_LOCK, HOLDFAST_TOKEN, HOLDFAST_OWNER, HOLDFAST_ENGINE and\n"
      "HOLDFAST_SEQUENCER. The lease is renewed while it runs. If the lease is lost, the program "
      "is\n"
      "ended before the lock can pass on, and the exit code is 76. When the program has ended,\n"
      "what it left behind in its process group is ended too; then the lock is released.\n"
      "\nExit codes: the program's own; 128+n if signal n ended it; 126 or 127 if it could not be\n"
      "started; 75 busy or timed out; 76 lease lost. --status-fd tells whose code it is.\n"
      "\nExamples:\n"
      "  holdfast run backup -- rsync -a /data /backup\n"
      "  holdfast run deploy --wait 0 -- ./deploy.sh\n"
      "  holdfast run pool --permits 4 --wait 1m -- ./worker\n"
      "  holdfast run db --ttl 10s --grace 3s --label nightly -- sh -c './dump $HOLDFAST_TOKEN'");
  command->callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments](Console& console) {
      return run(invocation, *arguments, console);
    };
  });
}

}  // namespace holdfast::cli
