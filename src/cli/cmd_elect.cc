#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/run/relaunch.h"
#include "cli/run/run_program.h"
#include "recipes/candidacy.h"
#include "recipes/wish.h"

namespace holdfast::cli {
namespace {

struct ElectArguments {
  std::string name;
  std::string value;
  std::string id;
  std::string ttl{"10s"};
  std::string wait{"forever"};
  std::string grace{"5s"};
  bool once{false};
};

/// Before it is tried again to reach an engine that does not answer.
constexpr int kPauseMs = 1'000;

Result<RunOptions> to_run_options(const Invocation& invocation, const ElectArguments& arguments) {
  LockArguments lock;
  lock.name = arguments.name;
  lock.ttl = arguments.ttl;
  lock.wait = arguments.wait;
  auto acquire = to_acquire_options(lock);
  if (!acquire) return Unexpected{acquire.error()};
  acquire->kind = LeaseKind::detached;
  acquire->label = {};
  const auto grace = duration_option("--grace", arguments.grace);
  if (!grace) return Unexpected{grace.error()};
  auto terms = recipes::check_candidacy(arguments.name, arguments.id, arguments.value, *acquire);
  if (!terms) return Unexpected{terms.error()};
  RunOptions options;
  options.engine = invocation.engine;
  options.names = {arguments.name};
  options.program = invocation.program;
  options.acquire = *acquire;
  options.grace = std::min(*grace, kTtlMax);
  options.format = invocation.json ? Format::json : Format::human;
  options.explain = [name = arguments.name](const AcquireError& error) {
    return with_holder(error, name);
  };
  options.take = [terms = *terms](Client& client,
                                  std::stop_token stop) -> Result<MultiLease, AcquireError> {
    auto lease = recipes::acquire_as_candidate(client, terms, std::move(stop));
    if (!lease) return Unexpected{std::move(lease).error()};
    std::vector<Lease> only;
    only.push_back(*std::move(lease));
    return MultiLease{std::move(only)};
  };
  options.heed = [terms = *std::move(terms)](Client& client, recipes::WishWatch::OnWish on_wish) {
    return std::make_shared<recipes::WishWatch>(client, terms, std::move(on_wish));
  };
  return options;
}

/// Whether a candidate goes on after this. An engine that is away is waited for by those that have
/// found it before.
bool campaigns_again(const Verdict& verdict, const Relaunch& relaunch) {
  if (verdict.asked_to_end_by != 0) return false;
  if (!verdict.successor.empty()) return true;
  if (!verdict.holdfast || !verdict.error) return false;
  const Errc code = verdict.error->code;
  const bool away = code == Errc::unavailable || code == Errc::unknown_outcome;
  return code == Errc::lost || (away && relaunch.is_repetition());
}

int elect(const Invocation& invocation, const ElectArguments& arguments, Console& console) {
  if (invocation.program.empty()) {
    return console.fail_usage("no program to run was given",
                              "put it after --, as in: holdfast elect NAME -- PROGRAM ARGUMENT");
  }
  const auto options = to_run_options(invocation, arguments);
  if (!options) return console.fail(options.error());
  const auto relaunch = Relaunch::prepare();
  if (!relaunch) return console.fail(relaunch.error());
  const Verdict verdict = run_program(*options, console);
  if (arguments.once || !campaigns_again(verdict, *relaunch)) return verdict.code;
  const bool away = verdict.error && verdict.error->code != Errc::lost;
  return console.fail_on_stderr(relaunch->begin_anew(away ? kPauseMs : 0));
}

}  // namespace

void add_elect(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("elect", "Run a program while leading an election");
  auto arguments = std::make_shared<ElectArguments>();
  command->add_option("NAME", arguments->name, "The election: 1 to 507 bytes of UTF-8")->required();
  command
      ->add_option("--value", arguments->value, "What others learn of the leader, as its address")
      ->type_name("TEXT");
  command->add_option("--id", arguments->id, "Names this candidate (default: host, pid, chance)")
      ->type_name("ID");
  command->add_option("--ttl", arguments->ttl, "How long a silent leader leads on (default 10s)")
      ->type_name("TIME");
  command
      ->add_option("--wait",
                   arguments->wait,
                   "How long to queue: forever, 10s, or 0 (default "
                   "forever)")
      ->type_name("TIME");
  command
      ->add_option("--grace",
                   arguments->grace,
                   "Time between TERM and KILL when the program must end (default 5s)")
      ->type_name("TIME");
  command->add_flag("--once", arguments->once, "Exit when the leadership is lost or handed over");
  command->footer(
      "\nWaits until it leads, then runs the program with HOLDFAST_LOCK, HOLDFAST_TOKEN (the\n"
      "leader's epoch), HOLDFAST_OWNER, HOLDFAST_ENGINE and HOLDFAST_SEQUENCER. If the leadership\n"
      "is in danger, the program is ended before another can lead, and the command campaigns\n"
      "again; so it does when `holdfast leader NAME --hand-over-to ID` asks for another leader.\n"
      "When the program ends by itself, the next candidate leads.\n"
      "\nExit codes: the program's own; 128+n if signal n ended it; 126 or 127 if it could not be\n"
      "started; 75 busy or timed out; 76 leadership lost, with --once.\n"
      "\nExamples:\n"
      "  holdfast elect billing --value 10.0.0.7:8080 -- ./billing-server\n"
      "  holdfast elect cron --id $(hostname) --ttl 5s -- crond -f");
  command->callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments](Console& console) {
      return elect(invocation, *arguments, console);
    };
  });
}

}  // namespace holdfast::cli
