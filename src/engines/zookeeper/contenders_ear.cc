#include "engines/zookeeper/contenders_ear.h"

#include <utility>

#include "base/alarm.h"

namespace holdfast::zookeeper {
namespace {

using namespace std::chrono_literals;

constexpr Millis kHearing = 5s;
constexpr Millis kDeaf = 200ms;

/// Before another session is tried.
constexpr Millis kRest = 500ms;

/// A watch that told nothing for so long is set anew: its session may be over.
constexpr Millis kSilence = 30s;

}  // namespace

struct ContendersEar::State {
  State(std::shared_ptr<const DeskReach> reach_in,
        std::string lock_in,
        std::function<void()> heard_in)
      : reach{std::move(reach_in)},
        lock{std::move(lock_in)},
        heard{std::move(heard_in)},
        changed{reach->env} {}

  std::shared_ptr<const DeskReach> reach;
  std::string lock;
  std::function<void()> heard;
  Alarm changed;
  SessionLine::Listening listening{};
  bool hears{false};
  bool over{false};
};

ContendersEar::ContendersEar(std::shared_ptr<const DeskReach> reach,
                             std::string lock,
                             std::function<void()> heard)
    : state_{std::make_shared<State>(std::move(reach), std::move(lock), std::move(heard))} {
  state_->reach->env.spawn(keep_listening(state_));
}

ContendersEar::~ContendersEar() {
  state_->over = true;
  state_->listening = {};
  state_->changed.ring();
}

Millis ContendersEar::trusted_for() const { return state_->hears ? kHearing : kDeaf; }

Task<void> ContendersEar::keep_listening(std::shared_ptr<State> state) {
  while (!state->over) {
    const auto listened = co_await listen_once(state);
    if (listened || state->over) continue;
    state->hears = false;
    co_await state->changed.wait_until(state->reach->env.now() + kRest);
  }
  state->listening = {};
}

/// Over one session, until that fails.
Task<Result<void>> ContendersEar::listen_once(std::shared_ptr<State> state) {
  Env& env = state->reach->env;
  const Millis timeout = state->reach->settings.patience;
  const auto use = co_await state->reach->enter(env.now() + timeout);
  if (!use) co_return Unexpected{use.error()};
  const auto line = (*use)->line;
  while (!state->over) {
    const auto set = co_await set_watch(state, line, env.now() + timeout);
    if (!set) co_return set;
    state->hears = true;
    if (state->over) break;
    state->heard();
    co_await state->changed.wait_until(env.now() + kSilence);
  }
  co_return Result<void>{};
}

Task<Result<void>> ContendersEar::set_watch(std::shared_ptr<State> state,
                                            std::shared_ptr<SessionLine> line,
                                            TimePoint answer_by) {
  for (;;) {
    state->listening = line->listen(state->lock, [weak = std::weak_ptr{state}](const auto&) {
      if (const auto alive = weak.lock()) alive->changed.ring();
    });
    const SharedRequest list = share(List{.path = state->lock, .watching = Watching::yes});
    const auto listed = co_await line->answered(list, answer_by);
    if (!listed) co_return Unexpected{listed.error()};
    if (listed->verdict == Verdict::done) co_return Result<void>{};
    const SharedRequest exists = share(Exists{.path = state->lock, .watching = Watching::yes});
    const auto there = co_await line->answered(exists, answer_by);
    if (!there) co_return Unexpected{there.error()};
    if (there->verdict == Verdict::no_node) co_return Result<void>{};
  }
}

}  // namespace holdfast::zookeeper
