#include "cli/lab/sim_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <csignal>
#include <limits>
#include <memory>
#include <utility>

#include "cli/exit_code.h"
#include "cli/lab/progress_bar.h"
#include "cli/lab/sim_arguments.h"
#include "cli/lab/sim_report.h"
#include "cli/signals.h"
#include "lab/world_picture.h"
#include "sim/replay.h"

namespace holdfast::cli {
namespace {

constexpr int kPromiseBroken = 1;
/// Of a timeline that nobody asked for.
constexpr std::size_t kTail = 25;

/// Runs the campaign, shows how far it is, and ends it when its time is over or a signal asks for
/// it. It looks for signals between seeds and not on a thread of its own: a process that has one
/// pays for it with every reference it counts.
class Watch {
 public:
  Watch(const SimPlan& plan, Format format)
      : plan_{plan}, bar_{format}, signals_{open_signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT})} {}

  SimReport run() {
    sim::CampaignOptions campaign = plan_.campaign;
    campaign.stop = stop_.get_token();
    campaign.progress = [this](const sim::Tally& so_far) { look(so_far); };
    SimReport report{.options = campaign.seed, .first_seed = campaign.first_seed};
    report.tally = sim::run_campaign(campaign);
    report.took = BootClock::now() - began_;
    return report;
  }

  /// The signal that came, or 0.
  int signal() const { return signal_; }

  void look_for_signals() {
    const int signal = next_signal(signals_.get());
    if (signal == 0) return;
    // Whoever asks twice does not want to wait for a clean end.
    if (std::exchange(signal_, signal) != 0) _exit(exit_code_of_signal(signal));
    stop_.request_stop();
  }

 private:
  void look(const sim::Tally& so_far) {
    look_for_signals();
    const double seconds = std::chrono::duration<double>{BootClock::now() - began_}.count();
    const double limit = std::chrono::duration<double>{plan_.limit}.count();
    double part = static_cast<double>(so_far.seeds) / static_cast<double>(plan_.campaign.seeds);
    if (limit > 0) part = std::max(part, std::min(1.0, seconds / limit));
    if (limit > 0 && seconds >= limit) stop_.request_stop();
    const double rate = seconds > 0 ? static_cast<double>(so_far.seeds) / seconds : 0;
    bar_.show(part,
              fmt::format("{} seeds, {}/s, {} broke a promise",
                          grouped(so_far.seeds),
                          grouped(static_cast<std::uint64_t>(rate)),
                          grouped(so_far.failing_seeds)));
  }

  const SimPlan& plan_;
  ProgressBar bar_;
  TimePoint began_{BootClock::now()};
  std::stop_source stop_;
  UniqueFd signals_;
  int signal_{0};
};

sim::SeedReport run_again(std::uint64_t seed,
                          const sim::SeedOptions& options,
                          std::string_view checker) {
  return checker == sim::kDeterminism ? sim::run_twice(seed, options, sim::run_seed)
                                      : sim::run_seed(seed, options);
}

Finding look_into(const sim::SeedOptions& options, const sim::Failure& failure, Watch& watch) {
  const std::string& checker = failure.violation.checker;
  const auto rerun = [&](const sim::SeedOptions& given) {
    watch.look_for_signals();
    return run_again(failure.seed, given, checker);
  };
  sim::SeedReport failed = rerun(options);
  // What shows only now and then is told as it was seen.
  if (sim::find_violation(failed, checker) == nullptr)
    failed.violations.push_back(failure.violation);
  Finding finding{.seed = failure.seed, .shrunk = sim::shrink(options, failed, checker, rerun)};
  finding.replay = sim::replay_command(failure.seed, finding.shrunk.options);
  return finding;
}

// Runs once more, with its events kept, what is to be told.
sim::SeedReport retold(const SimPlan& plan, const SimReport& report) {
  const Finding* finding = simplest(report.findings);
  if (finding == nullptr && (!plan.one_seed() || report.tally.seeds == 0)) return {};
  sim::SeedOptions options = finding == nullptr ? plan.campaign.seed : finding->shrunk.options;
  options.trace = sim::Trace::Keep::events;
  const std::uint64_t seed = finding == nullptr ? plan.campaign.first_seed : finding->seed;
  sim::SeedReport told = sim::run_seed(seed, options);
  // Of many promises broken on the way, the one whose story this is.
  if (finding != nullptr) told.violations = {finding->shrunk.violation};
  return told;
}

Result<std::vector<std::string>> draw(const SimPlan& plan, const SimReport& report) {
  if (!plan.wants_picture() || report.told.trace.empty()) return std::vector<std::string>{};
  const sim::Mutant* mutant = report.options.mutant;
  const std::string broken = mutant == nullptr ? "" : fmt::format(" broken as {}", mutant->name);
  const std::string title =
      fmt::format("{}{}, seed {}", report.options.protocol->name, broken, report.told.seed);
  auto written = write_pictures(plan.picture, lab::draw_world(report.told, title));
  if (!written) {
    Error error = written.error();
    error.remedy_text = "name another file with --svg or --html";
    return Unexpected{std::move(error)};
  }
  return written;
}

void tell(Console& console, const SimPlan& plan, const SimReport& report) {
  print(console, report);
  const bool told = !report.told.trace.empty();
  if (plan.timeline && told) {
    print_timeline(console, report, {plan.detail, std::numeric_limits<std::size_t>::max()});
  } else if (!report.findings.empty()) {
    print_timeline(console, report, {plan.detail, kTail});
  } else if ((plan.timeline || plan.wants_picture()) && !told) {
    console.note("No seed failed, so there is none to show: name one with --seed.");
  }
}

int run_sim(Console& console, const SimPlan& plan) {
  Watch watch{plan, console.format()};
  SimReport report = watch.run();
  for (const sim::Failure& failure : report.tally.failures) {
    if (watch.signal() != 0 && !report.findings.empty()) break;
    report.findings.push_back(look_into(plan.campaign.seed, failure, watch));
  }
  report.told = retold(plan, report);
  if (!console.json()) tell(console, plan, report);
  const auto pictures = draw(plan, report);
  if (!pictures && report.tally.failing_seeds == 0) return console.fail(pictures.error());
  // A broken promise is the news, also when it cannot be drawn.
  const std::vector<std::string> drawn = pictures ? *pictures : std::vector<std::string>{};
  if (!pictures) console.note(pictures.error().message);
  if (console.json()) {
    boost::json::object result = to_json(report);
    boost::json::array paths;
    for (const std::string& path : drawn) paths.emplace_back(path);
    result["pictures"] = std::move(paths);
    if (plan.timeline) result["timeline"] = timeline_json(report, plan.detail);
    console.print(result);
  }
  if (!console.json()) {
    for (const std::string& path : drawn) {
      console.print("\nThe picture: " + console.paint(path, Tone::name));
    }
  }
  if (report.tally.failing_seeds > 0) return kPromiseBroken;
  return watch.signal() == 0 ? to_int(ExitCode::ok) : exit_code_of_signal(watch.signal());
}

}  // namespace

void add_sim(CLI::App& app, CLI::App& lab, Invocation& invocation) {
  const auto arguments = std::make_shared<SimArguments>();
  auto* command = lab.add_subcommand("sim", "A protocol in simulated worlds full of faults");
  add_sim_options(*command, *arguments);
  command->footer(
      "\nEvery seed is a world: clients, lock servers, a resource, and the faults it draws. All "
      "promises are\nchecked in each, and the command ends with 1 when one was broken. It then "
      "says which seed, with\nthe fewest faults and the fewest events, and how to run that again.\n"
      "\nExamples:\n"
      "  holdfast lab sim --seeds 1000\n"
      "  holdfast lab sim --engine redlock-plain --for 60s      how often it loses updates\n"
      "  holdfast lab sim --mutant redlock-phase-1-only --svg story.svg\n"
      "  holdfast lab sim --seed 7 --timeline\n"
      "  holdfast lab sim --list");
  const CLI::Option* engine = app.get_option("--engine");
  command->callback([&invocation, engine, arguments] {
    // Before the command it means the same.
    if (arguments->engine.empty() && engine->count() > 0) arguments->engine = invocation.engine;
    invocation.action = [arguments](Console& console) {
      if (arguments->list) {
        print_sim_list(console);
        return to_int(ExitCode::ok);
      }
      const auto plan = to_plan(*arguments);
      return plan ? run_sim(console, *plan) : console.fail(plan.error());
    };
  });
}

}  // namespace holdfast::cli
