#include "core/queued_engine.h"

#include <algorithm>
#include <utility>

#include "core/validity.h"

namespace holdfast::core {

TimePoint QueuedEngine::attempt_end(TimePoint answer_by) const {
  return std::min(answer_by, env_.now() + patience_.timeout);
}

Task<Result<Grant, AcquireError>> QueuedEngine::acquire(LockRequest request,
                                                        TimePoint wait_until,
                                                        std::stop_token stop) {
  const auto self = shared_from_this();
  if (auto good = check(request.name); !good) {
    co_return Unexpected{AcquireError{std::move(good).error()}};
  }
  const Waits waits = env_.now() < wait_until ? Waits::yes : Waits::no;
  const auto waiter = std::make_shared<Waiter>(env_, request);
  // Before the request leaves: the lock may be handed over before its answer is here.
  auto place = waits == Waits::yes ? enter(waiter) : nullptr;
  const auto wake = [&env = env_, weak = std::weak_ptr{waiter}] {
    env.post([weak] {
      if (const auto asleep = weak.lock()) asleep->changed.ring();
    });
  };
  const std::stop_callback on_stop{stop, wake};
  for (;;) {
    const auto asked = co_await ask(waiter, waits, stop);
    if (waiter->token) co_return granted(*waiter);
    if (!asked) co_return refused(*waiter, asked.error());
    if (waits == Waits::no) co_return refused(*waiter, Errc::busy);
    co_await wait_for_call(waiter, wait_until, stop);
    if (waiter->token) co_return granted(*waiter);
    const bool cancelled = stop.stop_requested();
    if (!cancelled && env_.now() < wait_until) continue;
    const TimePoint in_time = env_.now() + patience_.timeout;
    const TimePoint by = cancelled ? in_time : std::min(in_time, wait_until + patience_.in_all);
    // First of all, or a refresh would put it in line again.
    place.reset();
    co_return co_await give_up(waiter, cancelled ? Errc::cancelled : Errc::timeout, by);
  }
}

Task<QueuedEngine::Granted> QueuedEngine::give_up(std::shared_ptr<Waiter> waiter,
                                                  Errc why,
                                                  TimePoint answer_by) {
  const LockRequest& request = waiter->request;
  const auto removed = co_await remove(request.name, request.owner, std::nullopt, answer_by);
  AcquireError gave_up{why};
  if (!removed) co_return refused(*waiter, std::move(gave_up));
  gave_up.holder = waiter->holder;
  co_return Unexpected{std::move(gave_up)};
}

Task<Result<void>> QueuedEngine::ask(std::shared_ptr<Waiter> waiter,
                                     Waits waits,
                                     std::stop_token stop) {
  const TimePoint answer_by = env_.now() + patience_.in_all;
  bool unsettled = false;
  for (std::uint32_t attempt = 0;; ++attempt) {
    const auto asked = co_await ask_once(waiter, waits, attempt_end(answer_by));
    if (asked || waiter->token) co_return Result<void>{};
    const Errc code = asked.error().code;
    unsettled = unsettled || code == Errc::unknown_outcome;
    const bool may_pass = code == Errc::unknown_outcome || code == Errc::unavailable;
    const Duration delay = backoff_delay(patience_.retry, attempt, env_.draw());
    if (!may_pass || env_.now() + delay >= answer_by || stop.stop_requested()) {
      if (!may_pass || !unsettled) co_return Unexpected{asked.error()};
      co_return Unexpected{Error{Errc::unknown_outcome, asked.error().message}};
    }
    co_await env_.sleep_for(delay);
  }
}

Task<void> QueuedEngine::wait_for_call(std::shared_ptr<Waiter> waiter,
                                       TimePoint wait_until,
                                       std::stop_token stop) {
  for (;;) {
    if (waiter->token || stop.stop_requested()) co_return;
    const TimePoint due = std::min(wait_until, waiter->ask_at);
    const Wake woken = co_await waiter->changed.wait_until(due);
    if (woken == Wake::due) co_return;
  }
}

QueuedEngine::Granted QueuedEngine::granted(const Waiter& waiter) {
  const LockRequest& request = waiter.request;
  const Confirmation& by = waiter.granted_by;
  const TimePoint valid_until = deadline_of(by.counts_from, request.ttl);
  if (env_.now() < valid_until) {
    granted_to(request);
    Grant grant{.token = *waiter.token, .sent_at = by.sent_at, .valid_until = valid_until};
    if (by.counts_from < by.sent_at) grant.counts_from = by.counts_from;
    // Called before it was answered: it stood in line.
    grant.met = waiter.answered ? waiter.met : Met::others;
    return grant;
  }
  return refused(waiter,
                 {Errc::timeout,
                  "the grant took longer to arrive than the lease lasts",
                  "use a longer TTL, or a server that answers faster"});
}

// One that never stood in line and took nothing has left nothing at the server.
QueuedEngine::Granted QueuedEngine::refused(const Waiter& waiter, Error error) {
  const bool left_nothing =
      error.code == Errc::busy || (error.code == Errc::unavailable && !waiter.answered);
  const LockRequest& request = waiter.request;
  if (!left_nothing) abandon(request.name, request.owner, request.ttl);
  AcquireError refusal{std::move(error)};
  refusal.holder = waiter.holder;
  return Unexpected{std::move(refusal)};
}

Task<ReleaseOutcome> QueuedEngine::release(HeldLease lease,
                                           TimePoint valid_until,
                                           TimePoint answer_by) {
  return release_once(std::move(lease.name), lease.owner, lease.token, valid_until, answer_by);
}

Task<ReleaseOutcome> QueuedEngine::release(LockName name, Owner owner, TimePoint answer_by) {
  return release_once(std::move(name), owner, std::nullopt, TimePoint::min(), answer_by);
}

Task<ReleaseOutcome> QueuedEngine::release_once(LockName name,
                                                Owner owner,
                                                std::optional<Token> token,
                                                TimePoint valid_until,
                                                TimePoint answer_by) {
  const auto self = shared_from_this();
  bool unsettled = false;
  for (std::uint32_t attempt = 0;; ++attempt) {
    const auto removal = co_await remove(name, owner, token, attempt_end(answer_by));
    if (removal && *removal == Removal::removed) co_return ReleaseOutcome::released;
    if (removal && !unsettled) co_return ReleaseOutcome::already_lost;
    if (removal) {
      // Where the lease still stands, it was our own unanswered request that removed it.
      const bool by_us = env_.now() < valid_until;
      co_return by_us ? ReleaseOutcome::released : ReleaseOutcome::unknown;
    }
    unsettled = unsettled || removal.error().code == Errc::unknown_outcome;
    const Duration delay = backoff_delay(patience_.retry, attempt, env_.draw());
    if (env_.now() + delay >= answer_by) co_return ReleaseOutcome::unknown;
    co_await env_.sleep_for(delay);
  }
}

void QueuedEngine::abandon(LockName name, Owner owner, Millis ttl) {
  env_.spawn(release_until(shared_from_this(), std::move(name), owner, env_.now() + ttl));
}

Task<void> QueuedEngine::release_until(std::shared_ptr<QueuedEngine> self,
                                       LockName name,
                                       Owner owner,
                                       TimePoint answer_by) {
  for (std::uint32_t attempt = 0; self->env_.now() < answer_by; ++attempt) {
    const auto removed =
        co_await self->remove(name, owner, std::nullopt, self->attempt_end(answer_by));
    if (removed) co_return;
    const Duration delay = backoff_delay(self->patience_.retry, attempt, self->env_.draw());
    co_await self->env_.sleep_for(delay);
  }
}

}  // namespace holdfast::core
