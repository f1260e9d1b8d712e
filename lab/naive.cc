#include "lab/naive.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "lab/actor.h"

namespace holdfast::lab {
namespace {

constexpr int kRunsMax = 16;

Result<Report> await(Actor& actor) {
  auto report = actor.receive();
  if (report && report->answer == Answer::failed) {
    return Unexpected{Error{report->code, report->message.data()}};
  }
  return report;
}

Result<Report> ask(Actor& actor, const Command& command) {
  if (const auto sent = actor.send(command); !sent) return Unexpected{sent.error()};
  return await(actor);
}

Result<std::vector<Actor>> gather(const NaiveOptions& options, const std::string& subject) {
  std::vector<Actor> actors;
  for (std::int64_t n = 0; n < options.processes; ++n) {
    auto actor = Actor::start({.engine = options.engine, .subject = subject}, options.interrupt);
    if (!actor) return Unexpected{actor.error()};
    actors.push_back(std::move(*actor));
  }
  // Once they have answered, all have opened engine and store: they start together.
  for (Actor& actor : actors) {
    if (const auto ready = ask(actor, {.verb = Verb::look}); !ready) {
      return Unexpected{ready.error()};
    }
  }
  return actors;
}

Result<NaiveRun> run_once(const NaiveOptions& options,
                          Guard guard,
                          std::int64_t rounds,
                          int number) {
  const auto subject = fmt::format("{}/{}", to_string(guard), number);
  auto actors = gather(options, subject);
  if (!actors) return Unexpected{actors.error()};
  NaiveRun run{.guard = guard, .rounds = rounds, .runs = number};
  const Command command{.verb = Verb::race, .guard = guard, .number = rounds};
  for (Actor& actor : *actors) {
    if (const auto sent = actor.send(command); !sent) return Unexpected{sent.error()};
  }
  for (Actor& actor : *actors) {
    const auto report = await(actor);
    if (!report) return Unexpected{report.error()};
    run.accepted.push_back(report->value);
  }
  const auto last = ask(actors->front(), {.verb = Verb::look});
  if (!last) return Unexpected{last.error()};
  run.final_value = last->value;
  return run;
}

}  // namespace

std::string_view to_string(Guard guard) {
  return guard == Guard::holdfast ? "holdfast" : "check_then_set";
}

std::int64_t NaiveRun::attempted() const {
  return std::accumulate(accepted.begin(), accepted.end(), std::int64_t{0});
}

std::vector<std::string> NaiveReport::differences() const {
  std::vector<std::string> found;
  if (naive.lost() <= 0) {
    found.push_back(fmt::format(
        "check-then-set lost nothing in {} runs: this comparison is not valid", naive.runs));
  }
  if (holdfast.lost() != 0) {
    found.push_back(fmt::format("Holdfast lost {} updates", holdfast.lost()));
  }
  return found;
}

Result<NaiveReport> run_naive(const NaiveOptions& options,
                              const std::function<void(const std::string&)>& progress) {
  NaiveReport report;
  std::int64_t rounds = options.rounds;
  for (int run = 1; run <= kRunsMax && report.naive.lost() <= 0; ++run) {
    progress(
        fmt::format("{} processes, {} rounds each, check-then-set", options.processes, rounds));
    auto naive = run_once(options, Guard::check_then_set, rounds, run);
    if (!naive) return Unexpected{naive.error()};
    report.naive = std::move(*naive);
    rounds = std::min(2 * rounds, kRoundsMax);
  }
  progress(fmt::format(
      "{} processes, {} rounds each, Holdfast", options.processes, report.naive.rounds));
  auto fenced = run_once(options, Guard::holdfast, report.naive.rounds, 1);
  if (!fenced) return Unexpected{fenced.error()};
  report.holdfast = std::move(*fenced);
  return report;
}

}  // namespace holdfast::lab
