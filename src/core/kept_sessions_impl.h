// The bodies of KeptSessions, for the source that instantiates it.

#pragma once

#include <algorithm>

#include "core/kept_sessions.h"

namespace holdfast::core {

template <class Session>
auto KeptSessions<Session>::current(Millis ttl) const -> SharedSession {
  const auto found = shared_.find(effective(ttl));
  return found == shared_.end() ? nullptr : found->second;
}

template <class Session>
Task<Result<SessionUse<Session>>> KeptSessions<Session>::enter(Millis ttl,
                                                               LeaseKind kind,
                                                               TimePoint answer_by) {
  const auto self = this->shared_from_this();
  // What a server said last tells more than that the time is up.
  std::optional<Error> cause;
  for (std::uint32_t attempt = 0;; ++attempt) {
    Result<void> asked{};
    if (kind == LeaseKind::detached) {
      auto own = co_await make(effective(ttl), answer_by);
      if (own) {
        take_in(*own);
        co_return SessionUse<Session>{*std::move(own), env_.now()};
      }
      asked = Unexpected{std::move(own).error()};
    } else {
      const SharedSession session = current(ttl);
      if (session && session->is_fresh(env_.now())) {
        co_return SessionUse<Session>{session, env_.now()};
      }
      const auto answered = co_await ask_for(effective(ttl), answer_by);
      if (!answered) co_return Unexpected{no_answer(cause)};
      asked = *answered;
      if (asked && env_.now() < answer_by) continue;
      if (asked) asked = Unexpected{too_slow(ttl)};
    }
    cause = asked.error();
    const Errc code = cause->code;
    const bool may_pass =
        code == Errc::unavailable || code == Errc::unknown_outcome || code == Errc::lost;
    const Duration delay = backoff_delay(terms_.retry, attempt, env_.draw());
    if (!may_pass || env_.now() + delay >= answer_by) co_return Unexpected{asked.error()};
    co_await env_.sleep_for(delay);
  }
}

/// One asks, and all who want the same wait for that answer.
template <class Session>
Task<std::optional<Result<void>>> KeptSessions<Session>::ask_for(Millis ttl, TimePoint answer_by) {
  auto& under_way = inquiries_[ttl];
  if (!under_way) {
    under_way = std::make_shared<Inquiry>();
    env_.spawn(inquire(this->shared_from_this(), ttl, under_way));
  }
  const std::shared_ptr<Inquiry> inquiry = under_way;
  const auto answered = std::make_shared<Alarm>(env_);
  inquiry->waiting.push_back(answered);
  while (!inquiry->answer && env_.now() < answer_by) co_await answered->wait_until(answer_by);
  co_return inquiry->answer;
}

template <class Session>
Task<void> KeptSessions<Session>::inquire(Self self, Millis ttl, std::shared_ptr<Inquiry> inquiry) {
  Result<void> answer{};
  if (const SharedSession session = self->current(ttl)) {
    answer = co_await self->renew(session, self->env_.now() + self->terms_.timeout);
  } else {
    const auto made = co_await self->make(ttl, self->env_.now() + self->terms_.patience);
    if (!made) answer = Unexpected{made.error()};
    // It may have ended before this task came to know of it.
    const bool stands = made && !(*made)->is_over();
    const bool another = stands && self->shared_.contains((*made)->ttl());
    if (another) self->close(*made);
    if (stands && !another) {
      self->shared_.emplace((*made)->ttl(), *made);
      self->take_in(*made);
    }
  }
  self->inquiries_.erase(ttl);
  inquiry->answer = answer;
  for (const auto& waiting : inquiry->waiting) waiting->ring();
}

template <class Session>
void KeptSessions<Session>::take_in(SharedSession session) {
  cared_for_.push_back({.session = std::move(session)});
  if (std::exchange(keeping_up_, true)) return changed_->ring();
  env_.spawn(keep_up(this->weak_from_this(), changed_));
}

template <class Session>
void KeptSessions<Session>::forget(const SharedSession& session) {
  const auto is_it = [&](const auto& entry) { return entry.second == session; };
  std::erase_if(shared_, is_it);
  std::erase_if(cared_for_, [&](const Care& care) { return care.session == session; });
  changed_->ring();
}

template <class Session>
auto KeptSessions<Session>::care_of(const SharedSession& session) -> Care* {
  const auto found = std::ranges::find(cared_for_, session, &Care::session);
  return found == cared_for_.end() ? nullptr : &*found;
}

template <class Session>
void KeptSessions<Session>::tell_end(const SharedSession& session) {
  if (session->users() > 0 && on_end_) on_end_(session);
}

template <class Session>
void KeptSessions<Session>::end(const SharedSession& session, LossReason reason) {
  if (session->is_over()) return;
  const SharedSession kept = session;
  kept->end_as(reason);
  forget(kept);
  dropped(kept);
  tell_end(kept);
}

template <class Session>
void KeptSessions<Session>::end_all(LossReason reason) {
  std::vector<SharedSession> all;
  for (const Care& care : cared_for_) all.push_back(care.session);
  for (const SharedSession& session : all) end(session, reason);
}

template <class Session>
bool KeptSessions<Session>::expire(const SharedSession& session) {
  if (session->is_over()) return true;
  if (env_.now() < session->valid_until()) return false;
  const SharedSession kept = session;
  kept->end_as(LossReason::expired);
  // What belongs to it may stand for a while yet, and keep others waiting.
  close(kept);
  tell_end(kept);
  return true;
}

template <class Session>
void KeptSessions<Session>::close(const SharedSession& session) {
  const SharedSession kept = session;
  forget(kept);
  kept->end_as(LossReason::abandoned);
  dismiss(kept);
}

template <class Session>
Task<void> KeptSessions<Session>::keep_up(std::weak_ptr<KeptSessions> weak,
                                          std::shared_ptr<Alarm> changed) {
  for (;;) {
    TimePoint next{};
    {
      const auto self = weak.lock();
      if (!self) co_return;
      next = self->look_after_all();
      if (self->cared_for_.empty()) {
        self->keeping_up_ = false;
        co_return;
      }
    }
    co_await changed->wait_until(next);
  }
}

/// When to look again.
template <class Session>
TimePoint KeptSessions<Session>::look_after_all() {
  const TimePoint now = env_.now();
  std::vector<SharedSession> all;
  for (const Care& care : cared_for_) all.push_back(care.session);
  TimePoint next = TimePoint::max();
  for (const SharedSession& session : all) next = std::min(next, look_after(session, now));
  return next;
}

template <class Session>
TimePoint KeptSessions<Session>::look_after(const SharedSession& session, TimePoint now) {
  if (expire(session)) return TimePoint::max();
  session->note_use(now);
  const bool in_use = session->users() > 0;
  const TimePoint idle_at = in_use ? TimePoint::max() : session->used_at() + terms_.idle;
  if (now >= idle_at) {
    close(session);
    return TimePoint::max();
  }
  Care* const care = care_of(session);
  if (care == nullptr) return TimePoint::max();
  if (const auto again_at = mend(session, *care))
    return std::min(session->valid_until(), *again_at);
  if (now >= std::max(session->due_at(), care->ask_at)) {
    care->ask_at = now + std::min<Duration>(terms_.timeout, session->ttl() / 6);
    env_.spawn(renew_in_time(this->shared_from_this(), session));
  }
  const TimePoint ask_at = std::max(session->due_at(), care->ask_at);
  return std::min({session->valid_until(), ask_at, idle_at});
}

template <class Session>
Task<void> KeptSessions<Session>::renew_in_time(Self self, SharedSession session) {
  const auto renewed = co_await self->renew(session, self->renewed_by(*session));
  Care* const care = self->care_of(session);
  if (care == nullptr) co_return;
  care->attempts = renewed ? 0 : care->attempts + 1;
  if (renewed) co_return;
  const Duration delay = backoff_delay(self->terms_.retry, care->attempts, self->env_.draw());
  care->ask_at = std::max(care->ask_at, self->env_.now() + delay);
}

}  // namespace holdfast::core
