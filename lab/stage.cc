#include "lab/stage.h"

#include <algorithm>
#include <utility>

namespace holdfast::lab {
namespace {

constexpr int kTakes = 10;

TimePoint time_of(std::int64_t ns) { return TimePoint{Duration{ns}}; }

std::optional<std::uint64_t> token_of(std::uint64_t value) {
  return value == 0 ? std::nullopt : std::optional{value};
}

// Plain reads and writes come without, whatever the process holds.
bool sends_token(Access access, Step step) {
  if (step == Step::read) return access == Access::open_first;
  if (step == Step::accepted || step == Step::refused) {
    return access == Access::open_first || access == Access::fenced_writes;
  }
  return true;
}

bool has_value(Step step) {
  return step == Step::read || step == Step::decided || step == Step::accepted ||
         step == Step::refused;
}

}  // namespace

Result<Stage> Stage::make(SceneOptions options) {
  const Role role{.engine = options.engine, .subject = options.subject};
  auto a = Actor::start(role, options.interrupt);
  if (!a) return Unexpected{a.error()};
  auto b = Actor::start(role, options.interrupt);
  if (!b) return Unexpected{b.error()};
  Stage stage{std::move(options), std::move(*a), std::move(*b)};
  stage.prepare();
  return stage;
}

Stage::Stage(SceneOptions options, Actor a, Actor b)
    : options_{std::move(options)}, a_{std::move(a)}, b_{std::move(b)} {
  scene_.access = options_.access;
  scene_.initial = options_.initial;
}

void Stage::prepare() {
  tell(Who::a, Verb::put, options_.initial);
  // Both have opened engine and store before the clock starts.
  tell(Who::b, Verb::look);
  start_ = BootClock::now();
}

std::optional<Report> Stage::tell(Who who, Verb verb, std::int64_t number) {
  if (!state_) return std::nullopt;
  state_ = actor(who).send({.verb = verb, .access = options_.access, .number = number});
  if (!state_) return std::nullopt;
  const auto report = actor(who).receive();
  if (!report) {
    state_ = Unexpected{report.error()};
  } else if (report->answer == Answer::failed) {
    state_ = Unexpected{Error{report->code, report->message.data()}};
  }
  return state_ ? std::optional{*report} : std::nullopt;
}

void Stage::note(Who who, Step step, TimePoint at, const Report& report) {
  Event event{.at = at - start_, .who = who, .step = step};
  if (sends_token(options_.access, step)) event.token = token_of(report.token);
  if (has_value(step)) event.value = report.value;
  if (step == Step::refused) event.highest = token_of(report.highest);
  scene_.events.push_back(event);
}

void Stage::acquire(Who who) {
  if (const auto report = tell(who, Verb::acquire, options_.ttl.count())) {
    note(who, Step::asked, time_of(report->began_ns));
    note(who, Step::granted, time_of(report->ended_ns), *report);
  }
}

void Stage::open(Who who) {
  if (options_.access != Access::open_first) return;
  if (const auto report = tell(who, Verb::open)) {
    const bool done = report->answer == Answer::done;
    note(who, done ? Step::opened : Step::refused, time_of(report->ended_ns), *report);
  }
}

void Stage::read(Who who) {
  if (const auto report = tell(who, Verb::read)) {
    const bool done = report->answer == Answer::done;
    note(who, done ? Step::read : Step::refused, time_of(report->ended_ns), *report);
  }
}

void Stage::decide(Who who) {
  if (const auto report = tell(who, Verb::decide, options_.change)) {
    const bool done = report->answer == Answer::done;
    note(who, done ? Step::decided : Step::declined, time_of(report->ended_ns), *report);
  }
}

void Stage::write(Who who) {
  const auto last =
      std::ranges::find(scene_.events.rbegin(), scene_.events.rend(), who, &Event::who);
  if (last == scene_.events.rend() || last->step == Step::declined) return;
  if (const auto report = tell(who, Verb::write)) {
    const bool done = report->answer == Answer::done;
    note(who, done ? Step::accepted : Step::refused, time_of(report->ended_ns), *report);
  }
}

void Stage::release(Who who) {
  if (const auto report = tell(who, Verb::release)) {
    const bool done = report->answer == Answer::done;
    note(who, done ? Step::released : Step::found_lost, time_of(report->ended_ns), *report);
  }
}

void Stage::signal(Who who, Step step, Result<void> (Actor::*send)()) {
  if (!state_) return;
  state_ = (actor(who).*send)();
  if (state_) note(who, step, BootClock::now());
}

void Stage::stop(Who who) { signal(who, Step::stopped, &Actor::stop); }

void Stage::resume(Who who) { signal(who, Step::continued, &Actor::resume); }

bool Stage::refused(Who who) const {
  const auto& events = scene_.events;
  const auto last = std::find_if(events.rbegin(), events.rend(), [who](const Event& event) {
    return event.who == who && (event.step == Step::accepted || event.step == Step::refused);
  });
  return last != events.rend() && last->step == Step::refused;
}

Result<Scene> Stage::finish() {
  if (const auto report = tell(Who::b, Verb::look)) scene_.final_value = report->value;
  if (!state_) return Unexpected{state_.error()};
  return std::move(scene_);
}

Result<Scene> play(const SceneOptions& options, const Script& script) {
  for (int take = 1;; ++take) {
    SceneOptions fresh = options;
    fresh.subject += "/" + std::to_string(take);
    auto stage = Stage::make(std::move(fresh));
    if (!stage) return Unexpected{stage.error()};
    script(*stage);
    auto scene = stage->finish();
    const bool too_slow = !scene && scene.error().code == Errc::lost;
    if (!too_slow || take == kTakes) return scene;
  }
}

}  // namespace holdfast::lab
