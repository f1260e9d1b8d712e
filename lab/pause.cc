#include "lab/pause.h"

#include <fmt/format.h>

#include "lab/stage.h"

namespace holdfast::lab {
namespace {

void hold_and_decide(Stage& stage, Who who) {
  stage.acquire(who);
  stage.open(who);
  stage.read(who);
  stage.decide(who);
}

void late_write(Stage& stage) {
  hold_and_decide(stage, Who::a);
  stage.stop(Who::a);
  hold_and_decide(stage, Who::b);
  stage.write(Who::b);
  stage.resume(Who::a);
  stage.write(Who::a);
  stage.release(Who::a);
  stage.release(Who::b);
}

void in_flight(Stage& stage) {
  hold_and_decide(stage, Who::a);
  stage.stop(Who::a);
  hold_and_decide(stage, Who::b);
  stage.resume(Who::a);
  stage.write(Who::a);
  stage.release(Who::a);
  stage.write(Who::b);
  stage.release(Who::b);
}

std::uint64_t granted_token(const Scene& scene, Who who) {
  for (const Event& event : scene.events) {
    if (event.who == who && event.step == Step::granted) return event.token.value_or(0);
  }
  return 0;
}

}  // namespace

std::string_view to_string(PauseStory story) {
  return story == PauseStory::late_write ? "late_write" : "in_flight";
}

std::string_view title_of(Access access) {
  switch (access) {
    case Access::plain:
      return "no check";
    case Access::fenced_writes:
      return "fenced writes only";
    case Access::open_first:
      return "open before read";
    case Access::compare_and_swap:
      return "compare-and-swap";
  }
  return "";
}

std::string_view to_string(Access access) {
  switch (access) {
    case Access::plain:
      return "no_check";
    case Access::fenced_writes:
      return "fenced_writes";
    case Access::open_first:
      return "open_before_read";
    case Access::compare_and_swap:
      return "compare_and_swap";
  }
  return "";
}

Tally tally(const Scene& scene) {
  const int accepted = count(scene, Step::accepted);
  return {.accepted = accepted,
          .refused = count(scene, Step::refused),
          .lost = accepted - (scene.final_value - scene.initial)};
}

bool PauseTake::must_lose() const {
  return scene.access == Access::plain ||
         (scene.access == Access::fenced_writes && story == PauseStory::in_flight);
}

std::vector<std::string> PauseReport::differences() const {
  std::vector<std::string> found;
  for (const PauseTake& take : takes) {
    const std::string name =
        fmt::format("{}, {}", title_of(take.scene.access), to_string(take.story));
    const Tally result = tally(take.scene);
    if (take.must_lose() && result.lost <= 0) {
      found.push_back(name + ": an update should have been lost, and none was");
    }
    if (!take.must_lose() && result.lost != 0) {
      found.push_back(fmt::format("{}: {} updates were lost", name, result.lost));
    }
    if (!take.must_lose() && result.refused != 1) {
      found.push_back(name + ": the write of A should have been refused");
    }
    if (granted_token(take.scene, Who::a) >= granted_token(take.scene, Who::b)) {
      found.push_back(name + ": the token of B is not above that of A");
    }
  }
  return found;
}

Result<PauseReport> run_pause(const PauseOptions& options,
                              const std::function<void(const std::string&)>& progress) {
  PauseReport report{.ttl = options.ttl};
  for (const Access access : kProtections) {
    for (const PauseStory story : {PauseStory::late_write, PauseStory::in_flight}) {
      const auto name = fmt::format("{}/{}", to_string(access), to_string(story));
      progress(name);
      auto scene = play({.engine = options.engine,
                         .subject = name,
                         .access = access,
                         .ttl = options.ttl,
                         .interrupt = options.interrupt},
                        story == PauseStory::late_write ? late_write : in_flight);
      if (!scene) return Unexpected{scene.error()};
      report.takes.push_back({.story = story, .scene = std::move(*scene)});
    }
  }
  return report;
}

}  // namespace holdfast::lab
