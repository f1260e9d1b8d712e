#include <algorithm>
#include <utility>

#include "engines/redlock/desk_scripts.h"
#include "engines/redlock/node_poll.h"
#include "engines/redlock/redlock_engine.h"

namespace holdfast::redlock {
namespace {

using namespace std::chrono_literals;

// Those who are called together must not come together, or each gets a part.
constexpr BackoffPolicy kSpread{.first = 4ms, .max = 4ms};
// After a tie: longer each time, so that one of them finds the others asleep.
constexpr BackoffPolicy kTie{.first = 10ms, .max = 250ms};
constexpr BackoffPolicy kNodesDown{.first = 50ms, .max = 500ms};
// Who took the lock by other means says nothing when it lets go.
constexpr Millis kForeignLook{250};

bool is_foreign(const Refusal& refusal) {
  return refusal.error.holder && refusal.error.holder->foreign;
}

}  // namespace

TimePoint RedlockEngine::next_look(const Refusal& refusal, Millis ttl, std::uint32_t in_vain) {
  const TimePoint now = env_.now();
  if (refusal.cause == Refusal::Cause::contended) {
    return now + backoff_delay(kTie, in_vain, env_.draw());
  }
  if (refusal.cause == Refusal::Cause::nodes) {
    return now + backoff_delay(kNodesDown, in_vain, env_.draw());
  }
  Millis most = std::min(settings_.look_every, ttl / 3);
  if (is_foreign(refusal)) most = std::min(most, kForeignLook);
  const Duration half = Duration{most} / 2;
  Duration delay = half + backoff_delay({.first = half, .max = half}, 0, env_.draw());
  // The nodes look at whole milliseconds: a little later they have surely forgotten.
  if (refusal.ends_in > 0ms) {
    const Duration spread = backoff_delay(kSpread, 0, env_.draw());
    delay = std::min<Duration>(delay, refusal.ends_in + 2ms + spread);
  }
  return now + delay;
}

Task<void> RedlockEngine::wait_for_chance(std::shared_ptr<Waiter> waiter,
                                          Refusal::Cause cause,
                                          TimePoint look_at,
                                          std::stop_token stop) {
  for (;;) {
    if (stop.stop_requested()) co_return;
    if (cause == Refusal::Cause::held && waiter->called()) {
      co_await env_.sleep_for(backoff_delay(kSpread, 0, env_.draw()));
      co_return;
    }
    const Wake woken = co_await waiter->changed.wait_until(look_at);
    if (woken == Wake::due) co_return;
  }
}

Task<RedlockEngine::Granted> RedlockEngine::wait_and_try(core::LockRequest request,
                                                         std::shared_ptr<Waiter> waiter,
                                                         Refusal refusal,
                                                         TimePoint wait_until,
                                                         std::stop_token stop) {
  const auto wake = [&env = env_, weak = std::weak_ptr{waiter}] {
    env.post([weak] {
      if (const auto asleep = weak.lock()) asleep->changed.ring();
    });
  };
  const std::stop_callback on_stop{stop, wake};
  TimePoint bear_until = TimePoint::max();
  for (std::uint32_t in_vain = 0;;) {
    tell_waiting(request);
    const TimePoint look_at = std::min(wait_until, next_look(refusal, request.ttl, in_vain));
    co_await wait_for_chance(waiter, refusal.cause, look_at, stop);
    if (stop.stop_requested()) co_return Unexpected{AcquireError{Errc::cancelled}};
    if (env_.now() >= wait_until) co_return Unexpected{std::move(refusal.error)};
    // Each attempt is one of its own: an answer to the last one must not count for this one.
    core::LockRequest anew = request;
    anew.owner = env_.fresh_owner();
    waiter->forget();
    Tried tried = co_await try_once(std::move(anew), Manner::in_turn);
    if (tried.grant) co_return *std::move(tried.grant);
    in_vain = tried.refusal.cause == refusal.cause ? in_vain + 1 : 0;
    refusal = std::move(tried.refusal);
    const Errc code = refusal.error.code;
    if (code == Errc::busy) {
      bear_until = TimePoint::max();
      continue;
    }
    bear_until = std::min(bear_until, env_.now() + settings_.patience);
    if (code != Errc::unavailable || env_.now() >= bear_until) {
      co_return Unexpected{std::move(refusal.error)};
    }
  }
}

// Without a note there is nothing to be seen of one who waits.
void RedlockEngine::tell_waiting(const core::LockRequest& request) {
  if (request.note.empty()) return;
  const redis::SharedCall call = redis::share(
      {.script = &kWaitScript,
       .keys = {keys_.waiters(request.name)},
       .args = {request.owner.to_string(), std::to_string(request.ttl.count()), request.note}});
  for (const auto& node : nodes_) {
    node->send(call, env_.now() + settings_.timeout, [](const Result<redis::Reply>&) {});
  }
}

Task<void> RedlockEngine::leave(core::LockRequest request, Leaving leaving) {
  if (request.note.empty()) co_return;
  redis::SharedCall call = redis::share({.script = &kLeaveScript,
                                         .keys = {keys_.waiters(request.name)},
                                         .args = {request.owner.to_string()}});
  const TimePoint by = env_.now() + settings_.timeout;
  if (leaving == Leaving::with_the_lock) {
    for (const auto& node : nodes_) node->send(call, by, [](const Result<redis::Reply>&) {});
    co_return;
  }
  Enough enough = &a_majority;
  co_await ask_nodes(env_, nodes_, std::move(call), by, std::move(enough));
}

}  // namespace holdfast::redlock
