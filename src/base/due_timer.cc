#include "base/due_timer.h"

#include <utility>

namespace holdfast {

DueTimer::DueTimer(Env& env, std::function<void()> on_due)
    : state_{std::make_shared<State>(State{env, std::move(on_due)})} {}

void DueTimer::set(TimePoint when) {
  if (state_->due <= when) return;
  state_->due = when;
  Env& env = state_->env;
  const std::weak_ptr<State> timer = state_;
  // Parked tasks are resumed while the Env counts them, which is no time to run anything.
  const auto resume = [&env, timer, when] { env.post([timer, when] { gone_off(timer, when); }); };
  env.park(when, Parked{Work{resume}});
}

void DueTimer::gone_off(const std::weak_ptr<State>& timer, TimePoint due) {
  const auto state = timer.lock();
  // Set to an earlier time since, and that has gone off.
  if (!state || state->due != due) return;
  state->due = TimePoint::max();
  state->on_due();
}

}  // namespace holdfast
