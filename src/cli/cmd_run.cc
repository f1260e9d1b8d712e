#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <vector>

#include "cli/command.h"
#include "cli/duration.h"
#include "cli/run/run_program.h"
#include "cli/text.h"
#include "core/limits.h"
#include "holdfast/interval.h"
#include "holdfast/read_write.h"
#include "recipes/detached_read_write.h"

namespace holdfast::cli {
namespace {

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

struct RunArguments {
  LockArguments lock;
  std::vector<std::string> others;
  std::string at_most_every;
  std::string on_failure{"wait"};
  std::string grace{"5s"};
  std::string status_fd;
  const CLI::Option* wait{nullptr};
  std::string metrics{from_environment("HOLDFAST_METRICS")};
  std::string log{from_environment("HOLDFAST_LOG")};
  bool measure{false};
};

/// Whether every run is to be measured.
Result<bool> measures_by_environment() {
  constexpr std::array<std::string_view, 4> kYes{"1", "yes", "on", "true"};
  constexpr std::array<std::string_view, 5> kNo{"", "0", "no", "off", "false"};
  const std::string text = from_environment("HOLDFAST_MEASURE");
  if (std::ranges::find(kYes, text) != kYes.end()) return true;
  if (std::ranges::find(kNo, text) != kNo.end()) return false;
  return Unexpected{
      Error{Errc::invalid_argument,
            fmt::format("HOLDFAST_MEASURE: '{}' is neither yes nor no", printable(text)),
            "set it to 1 or 0, or unset it"}};
}

/// Each once, in the order typed.
std::vector<std::string> names_of(const RunArguments& arguments) {
  std::vector<std::string> names{arguments.lock.name};
  for (const std::string& other : arguments.others) {
    if (std::ranges::find(names, other) == names.end()) names.push_back(other);
  }
  return names;
}

Error explain(const AcquireError& error, const std::vector<std::string>& names) {
  if (names.size() == 1) return with_holder(error, names.front());
  Error result = error;
  if (error.code != Errc::busy && error.code != Errc::timeout) return result;
  const bool waited = error.code == Errc::timeout;
  const char* const way = waited ? "were waited for in vain" : "are not all free";
  result.message = fmt::format("'{}' {}", fmt::join(names, "', '"), way);
  if (error.holder) result.message += "; one is held by " + describe(*error.holder);
  return result;
}

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

Result<FailedRun> parse_on_failure(const std::string& text) {
  if (text == "wait") return FailedRun::counts;
  if (text == "retry") return FailedRun::may_repeat;
  return Unexpected{Error{Errc::invalid_argument,
                          fmt::format("--on-failure: '{}' is not known", printable(text)),
                          "use wait or retry"}};
}

/// What `--at-most-every` makes of the options.
Result<void> set_interval(const RunArguments& arguments, RunOptions& options) {
  const auto on_failure = parse_on_failure(arguments.on_failure);
  if (!on_failure) return Unexpected{on_failure.error()};
  options.on_failure = *on_failure;
  if (arguments.at_most_every.empty()) return {};
  const auto interval = duration_option("--at-most-every", arguments.at_most_every);
  if (!interval) return Unexpected{interval.error()};
  if (*interval < kTtlMin || *interval > kTtlMax) {
    return Unexpected{
        Error{Errc::invalid_argument,
              fmt::format("--at-most-every: {} is out of range", format_duration(*interval)),
              "use 100ms to 24h"}};
  }
  options.at_most_every = *interval;
  // Who comes too early is not to queue up, unless that is asked for.
  if (arguments.wait->count() == 0) options.acquire.wait = Millis{0};
  return core::check_name(interval_lock(options.names.front()));
}

/// What `--writer` makes of the options.
void set_writer(RunOptions& options) {
  const std::string name = options.names.front();
  options.names.push_back(intent_lock(name));
  options.take = [name, wanted = options.acquire](
                     Client& client, std::stop_token stop) -> Result<MultiLease, AcquireError> {
    auto writer = recipes::write_detached(client, name, wanted, std::move(stop));
    if (!writer) return Unexpected{std::move(writer).error()};
    std::vector<Lease> leases;
    leases.push_back(std::move(writer->lease));
    leases.push_back(std::move(writer->intent));
    return MultiLease{std::move(leases)};
  };
  options.explain = [name](const AcquireError& error) { return with_holder(error, name); };
}

Result<RunOptions> to_run_options(const Invocation& invocation, const RunArguments& arguments) {
  RunOptions options;
  options.engine = invocation.engine;
  options.names = names_of(arguments);
  options.program = invocation.program;
  options.explain = [names = options.names](const AcquireError& error) {
    return explain(error, names);
  };
  options.format = invocation.json ? Format::json : Format::human;
  const auto acquire = to_acquire_options(arguments.lock);
  if (!acquire) return Unexpected{acquire.error()};
  options.acquire = *acquire;
  options.acquire.kind = LeaseKind::detached;
  if (arguments.lock.writer) set_writer(options);
  const auto grace = duration_option("--grace", arguments.grace);
  if (!grace) return Unexpected{grace.error()};
  options.grace = std::min(*grace, kTtlMax);
  const auto status_fd = parse_status_fd(arguments.status_fd);
  if (!status_fd) return Unexpected{status_fd.error()};
  options.status_fd = *status_fd;
  if (auto good = set_interval(arguments, options); !good) return Unexpected{good.error()};
  // Known before a guardian is started in vain.
  for (const std::string& name : options.names) {
    if (auto good = core::check_name(name); !good) return Unexpected{good.error()};
  }
  if (options.names.size() > kNamesMax) {
    return Unexpected{Error{Errc::invalid_argument,
                            fmt::format("--and: {} locks are named", options.names.size()),
                            fmt::format("use at most {} at once", kNamesMax)}};
  }
  if (auto valid = core::check_options(options.acquire); !valid) return Unexpected{valid.error()};
  const auto measures = measures_by_environment();
  if (!measures) return Unexpected{measures.error()};
  auto report = RunReport::open({.metrics_path = arguments.metrics,
                                 .log_path = arguments.log,
                                 .measure = arguments.measure || *measures});
  if (!report) return Unexpected{std::move(report).error()};
  options.report = std::move(*report);
  return options;
}

int run(const Invocation& invocation, const RunArguments& arguments, Console& console) {
  if (invocation.program.empty()) {
    return console.fail_usage("no program to run was given",
                              "put it after --, as in: holdfast run NAME -- PROGRAM ARGUMENT");
  }
  const auto options = to_run_options(invocation, arguments);
  return options ? run_program(*options, console).code : console.fail(options.error());
}

void add_report_options(CLI::App& command, RunArguments& arguments) {
  command
      .add_option("--metrics",
                  arguments.metrics,
                  "Add what was counted and timed to this file, as Prometheus reads it")
      ->type_name("FILE");
  command
      .add_option("--log", arguments.log, "Append every lock operation to this file, as JSON lines")
      ->type_name("FILE");
  command.add_flag("--measure",
                   arguments.measure,
                   "Leave at the engine how long the lock was waited for and held, for `advise`");
}

}  // namespace

void add_run(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("run", "Run a program while holding a lock");
  auto arguments = std::make_shared<RunArguments>();
  add_lock_arguments(*command, arguments->lock);
  arguments->wait = command->get_option("--wait");
  command->add_option("--and", arguments->others, "Another lock to hold with it; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      ->add_option("--at-most-every",
                   arguments->at_most_every,
                   "Run it at most once in so long, wherever it is started; 100ms to 24h")
      ->type_name("TIME")
      ->excludes("--shared")
      ->excludes("--permits");
  command->get_option("--writer")->excludes("--and")->excludes("--at-most-every");
  command
      ->add_option("--on-failure",
                   arguments->on_failure,
                   "If such a run fails: wait for the next interval, or retry (default wait)")
      ->type_name("WORD");
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
  add_report_options(*command, *arguments);
  command->footer(
      "\nThe program gets HOLDFAST_LOCK, HOLDFAST_TOKEN, HOLDFAST_OWNER, HOLDFAST_ENGINE and\n"
      "HOLDFAST_SEQUENCER. The lease is renewed while it runs. If the lease is lost, the program "
      "is\n"
      "ended before the lock can pass on, and the exit code is 76. When the program has ended,\n"
      "what it left behind in its process group is ended too; then the lock is released.\n"
      "\nWith --and all locks are taken, or none. HOLDFAST_LOCK_1, HOLDFAST_TOKEN_1 and so on "
      "tell\n"
      "of each, in the order typed; the variables without a number are of NAME.\n"
      "\nWith --at-most-every the lock NAME~interval is held for that long from the start of the\n"
      "run, by the engine's clock, whatever becomes of the program or of this host. Until it is\n"
      "over, others exit with 75 and say when it is due, unless they --wait.\n"
      "\nWith --writer the lock NAME~intent is held, too: no other run or acquire with --writer, "
      "no\n"
      "'upgrade' and no writer of a ReadWriteLock comes between the two steps of an upgrade. Let\n"
      "all writers of a name say so where readers are upgraded.\n"
      "\nExit codes: the program's own; 128+n if signal n ended it; 126 or 127 if it could not be\n"
      "started; 75 busy or timed out; 76 lease lost. --status-fd tells whose code it is.\n"
      "\nHOLDFAST_METRICS and HOLDFAST_LOG name the files when --metrics and --log are not given;\n"
      "HOLDFAST_MEASURE=1 is as --measure, and HOLDFAST_MEASURE=0 as nothing.\n"
      "\nExamples:\n"
      "  holdfast run backup -- rsync -a /data /backup\n"
      "  holdfast run deploy --wait 0 -- ./deploy.sh\n"
      "  holdfast run accounts/ann --and accounts/bob -- ./transfer.sh\n"
      "  holdfast run cleanup --at-most-every 10m -- ./cleanup.sh\n"
      "  holdfast run catalog --writer -- ./rewrite.sh\n"
      "  holdfast run pool --permits 4 --wait 1m -- ./worker\n"
      "  holdfast run db --ttl 10s --grace 3s --label nightly -- sh -c './dump $HOLDFAST_TOKEN'");
  command->callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments](Console& console) {
      return run(invocation, *arguments, console);
    };
  });
}

}  // namespace holdfast::cli
