#include "core/session_observation.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/alarm.h"
#include "core/session_backend.h"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

/// Between two looks, whatever is heard: a busy lock is not looked at after each of its changes.
constexpr Millis kBreath = 10ms;
/// A lease that should have ended is looked at again so soon.
constexpr Millis kOverdue = 20ms;

/// Who holds a lock, by fingerprint and token.
using Holders = std::vector<std::pair<std::string, Token>>;

Holders holders_of(const LockInfo& lock) {
  Holders holders;
  for (const Contender& holder : lock.holders) holders.emplace_back(holder.owner_fp, holder.token);
  return holders;
}

}  // namespace

/// Touched by tasks of the Env alone, and let go there.
struct SessionObservation::State {
  State(std::shared_ptr<SessionBackend> backend_in, LockName name_in)
      : backend{std::move(backend_in)}, name{std::move(name_in)}, changed{backend->env()} {}

  bool is_news(const LockInfo& lock) {
    Holders holders = holders_of(lock);
    if (told == holders) return false;
    told = std::move(holders);
    return true;
  }

  /// When to look again if nothing is heard.
  TimePoint trust(const LockInfo& lock, TimePoint now) const {
    Millis trusted = ear ? ear->trusted_for() : backend->look_every();
    for (const Contender& holder : lock.holders) {
      if (!holder.foreign) trusted = std::min(trusted, std::max(holder.ttl, kOverdue));
    }
    return now + trusted;
  }

  std::shared_ptr<SessionBackend> backend;
  LockName name;
  Alarm changed;
  std::unique_ptr<LockEar> ear{};
  bool listening{false};
  std::optional<Holders> told{};
  TimePoint looked_at{TimePoint::min()};
  TimePoint look_at{TimePoint::min()};
};

SessionObservation::SessionObservation(std::shared_ptr<SessionBackend> backend, LockName name)
    : state_{std::make_shared<State>(std::move(backend), std::move(name))} {}

SessionObservation::~SessionObservation() {
  const auto backend = state_->backend;
  // A child has no tasks, and what they left is not to be touched.
  if (backend->forked()) {
    new std::shared_ptr<State>{std::move(state_)};
    return;
  }
  backend->env().post([state = std::move(state_)] { state->ear.reset(); });
}

void SessionObservation::next(std::stop_token stop,
                              std::function<void(Result<LockInfo>)> callback) {
  SessionBackend& backend = *state_->backend;
  if (backend.forked()) {
    return callback(
        Unexpected{Error{Errc::shutting_down, "the process has forked since it connected"}});
  }
  auto deliver = [dispatcher = &backend.dispatcher(),
                  callback = std::move(callback)](Result<LockInfo> looked) {
    dispatcher->post([callback, looked = std::move(looked)] { callback(looked); });
  };
  backend.env().spawn(answer(state_, backend.side(), std::move(stop), std::move(deliver)));
}

Task<void> SessionObservation::answer(std::shared_ptr<State> state,
                                      SessionSide side,
                                      std::stop_token stop,
                                      std::function<void(Result<LockInfo>)> deliver) {
  std::function<void()> ring = [weak = std::weak_ptr{state}, &env = state->backend->env()] {
    env.post([weak] {
      if (const auto alive = weak.lock()) alive->changed.ring();
    });
  };
  const std::stop_callback on_stop{stop, std::move(ring)};
  Task<Result<LockInfo>> looking = look_until_news(state, std::move(side), stop);
  Result<LockInfo> looked = co_await std::move(looking);
  deliver(std::move(looked));
}

Task<Result<LockInfo>> SessionObservation::look_until_news(std::shared_ptr<State> state,
                                                           SessionSide side,
                                                           std::stop_token stop) {
  Env& env = state->backend->env();
  // Who looks but once needs nobody to tell him of changes.
  if (state->told && !std::exchange(state->listening, true)) {
    state->look_at = TimePoint::min();
    std::function<void()> on_change = [weak = std::weak_ptr{state}] {
      if (const auto alive = weak.lock()) alive->changed.ring();
    };
    state->ear = side.desk->listen(state->name, std::move(on_change));
  }
  for (;;) {
    if (env.now() < state->look_at && !stop.stop_requested()) {
      co_await state->changed.wait_until(state->look_at);
    }
    if (stop.stop_requested()) {
      co_return Unexpected{Error{Errc::cancelled, "observing the lock was cancelled"}};
    }
    if (state->told) co_await env.sleep_until(state->looked_at + kBreath);
    state->looked_at = env.now();
    auto looked = co_await side.desk->inspect(state->name, state->backend->answer_by());
    state->look_at = env.now() + state->backend->look_every();
    if (!looked) co_return Unexpected{looked.error()};
    state->look_at = state->trust(*looked, env.now());
    if (state->is_news(*looked)) co_return looked;
  }
}

}  // namespace holdfast::core
