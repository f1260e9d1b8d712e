#include "engines/etcd/etcd_sessions.h"

#include <algorithm>
#include <utility>

#include "engines/etcd/etcd_calls.h"

namespace holdfast::etcd {

namespace {

Error too_slow(Millis ttl) {
  return {Errc::unavailable,
          "the cluster answers too slowly for leases of " + std::to_string(ttl.count()) + " ms",
          "use a longer TTL"};
}

}  // namespace

/// What several wait for: that there is a session for them.
struct Sessions::Inquiry {
  std::optional<Result<void>> answer;
  std::vector<std::shared_ptr<Alarm>> waiting;
};

Sessions::Sessions(Env& env,
                   std::shared_ptr<EtcdPort> port,
                   Terms terms,
                   std::function<void(const SharedSession&)> on_end)
    : env_{env},
      port_{std::move(port)},
      terms_{terms},
      on_end_{std::move(on_end)},
      changed_{std::make_shared<Alarm>(env)} {}

Sessions::~Sessions() { changed_->ring(); }

Millis Sessions::effective(Millis ttl) const {
  return std::max<Millis>(whole_seconds(ttl), shortest_);
}

Sessions::SharedSession Sessions::current(Millis ttl) const {
  const auto found = shared_.find(effective(ttl));
  return found == shared_.end() ? nullptr : found->second;
}

Task<Result<SessionUse>> Sessions::enter(Millis ttl, LeaseKind kind, TimePoint answer_by) {
  const auto self = shared_from_this();
  // What the cluster said last tells more than that the time is up.
  Error cause{Errc::unavailable, "the cluster grants no lease in time"};
  for (std::uint32_t attempt = 0;; ++attempt) {
    Result<void> asked{};
    if (kind == LeaseKind::detached) {
      auto own = co_await make(effective(ttl), answer_by);
      if (own) co_return SessionUse{*std::move(own), env_.now()};
      asked = Unexpected{std::move(own).error()};
    } else {
      const SharedSession session = current(ttl);
      if (session && session->is_fresh(env_.now())) co_return SessionUse{session, env_.now()};
      const auto answered = co_await ask_for(effective(ttl), answer_by);
      if (!answered) co_return Unexpected{std::move(cause)};
      asked = *answered;
      if (asked && env_.now() < answer_by) continue;
      if (asked) asked = Unexpected{too_slow(ttl)};
    }
    cause = asked.error();
    const Errc code = cause.code;
    const bool may_pass = code == Errc::unavailable || code == Errc::unknown_outcome;
    const Duration delay = backoff_delay(terms_.retry, attempt, env_.draw());
    if (!may_pass || env_.now() + delay >= answer_by) co_return Unexpected{asked.error()};
    co_await env_.sleep_for(delay);
  }
}

/// One asks, and all who want the same wait for that answer.
Task<std::optional<Result<void>>> Sessions::ask_for(Millis ttl, TimePoint answer_by) {
  auto& under_way = inquiries_[ttl];
  if (!under_way) {
    under_way = std::make_shared<Inquiry>();
    env_.spawn(inquire(shared_from_this(), ttl, under_way));
  }
  const std::shared_ptr<Inquiry> inquiry = under_way;
  const auto answered = std::make_shared<Alarm>(env_);
  inquiry->waiting.push_back(answered);
  while (!inquiry->answer && env_.now() < answer_by) co_await answered->wait_until(answer_by);
  co_return inquiry->answer;
}

Task<void> Sessions::inquire(std::shared_ptr<Sessions> self,
                             Millis ttl,
                             std::shared_ptr<Inquiry> inquiry) {
  Result<void> answer{};
  if (const SharedSession session = self->current(ttl)) {
    answer = co_await self->renew(session, self->env_.now() + self->terms_.timeout);
  } else {
    const auto made = co_await self->make(ttl, TimePoint::max());
    if (!made) answer = Unexpected{made.error()};
    const bool another = made && self->shared_.contains((*made)->ttl());
    if (another) self->revoke(*made);
    // It may have ended before this task came to know of it.
    const bool stands = made && !(*made)->is_over();
    if (stands && !another) self->shared_.emplace((*made)->ttl(), *made);
  }
  self->inquiries_.erase(ttl);
  inquiry->answer = answer;
  for (const auto& waiting : inquiry->waiting) waiting->ring();
}

Task<Result<Sessions::SharedSession>> Sessions::make(Millis ttl, TimePoint answer_by) {
  const auto seconds = whole_seconds(ttl);
  const LeaseId lease = fresh_lease(env_.draw());
  const TimePoint sent_at = env_.now();
  const TimePoint by = std::min(answer_by, sent_at + terms_.timeout);
  const auto answer = co_await granted(*port_, lease, seconds, by);
  if (!answer) co_return Unexpected{answer.error()};
  if (answer->ttl < seconds) {
    co_return Unexpected{Error{Errc::unavailable, "the cluster did not grant a lease"}};
  }
  if (answer->ttl > seconds) shortest_ = std::max<Millis>(shortest_, answer->ttl);
  auto session = std::make_shared<Session>(lease, Millis{answer->ttl}, sent_at);
  take_in(session);
  co_return session;
}

void Sessions::take_in(SharedSession session) {
  cared_for_.push_back({.session = std::move(session)});
  if (std::exchange(keeping_up_, true)) return changed_->ring();
  env_.spawn(keep_up(weak_from_this(), changed_));
}

Task<Result<void>> Sessions::renew(SharedSession session, TimePoint answer_by) {
  const auto self = shared_from_this();
  const TimePoint sent_at = env_.now();
  const auto answer = co_await kept_alive(*port_, session->lease(), answer_by);
  if (!answer) co_return Unexpected{answer.error()};
  if (answer->ttl <= Seconds{0}) {
    end(session, session->explain_end(env_.now()));
  } else if (!session->is_over()) {
    session->confirm(sent_at);
    changed_->ring();
  }
  co_return Result<void>{};
}

void Sessions::end(const SharedSession& session, LossReason reason) {
  if (session->is_over()) return;
  const SharedSession kept = session;
  kept->end_as(reason);
  leave_alone(kept);
  if (kept->users() > 0 && on_end_) on_end_(kept);
}

bool Sessions::expire(const SharedSession& session) {
  if (session->is_over()) return true;
  if (env_.now() < session->valid_until()) return false;
  const SharedSession kept = session;
  end(kept, LossReason::expired);
  // Its keys may stand for a while yet, and keep others waiting.
  revoke(kept);
  return true;
}

void Sessions::end_all(LossReason reason) {
  std::vector<SharedSession> all;
  for (const Care& care : cared_for_) all.push_back(care.session);
  for (const SharedSession& session : all) end(session, reason);
}

void Sessions::leave_alone(const SharedSession& session) {
  const auto is_it = [&](const auto& entry) { return entry.second == session; };
  std::erase_if(shared_, is_it);
  std::erase_if(cared_for_, [&](const Care& care) { return care.session == session; });
  changed_->ring();
}

void Sessions::revoke(const SharedSession& session) {
  const SharedSession kept = session;
  leave_alone(kept);
  kept->end_as(LossReason::abandoned);
  env_.spawn(revoke_at_last(shared_from_this(), kept));
}

Task<void> Sessions::revoke_at_last(std::shared_ptr<Sessions> self, SharedSession session) {
  // The server has ended it by then, since nobody keeps it alive.
  const TimePoint give_up_at = self->env_.now() + 2 * session->ttl();
  for (std::uint32_t attempt = 0; self->env_.now() < give_up_at; ++attempt) {
    const TimePoint by = self->env_.now() + self->terms_.timeout;
    const auto answer = co_await revoked(*self->port_, session->lease(), by);
    if (answer) co_return;
    co_await self->env_.sleep_for(backoff_delay(self->terms_.retry, attempt, self->env_.draw()));
  }
}

Task<void> Sessions::keep_up(std::weak_ptr<Sessions> weak, std::shared_ptr<Alarm> changed) {
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
TimePoint Sessions::look_after_all() {
  const TimePoint now = env_.now();
  std::vector<SharedSession> all;
  for (const Care& care : cared_for_) all.push_back(care.session);
  TimePoint next = TimePoint::max();
  for (const SharedSession& session : all) next = std::min(next, look_after(session, now));
  return next;
}

TimePoint Sessions::look_after(const SharedSession& session, TimePoint now) {
  if (expire(session)) return TimePoint::max();
  session->note_use(now);
  const bool in_use = session->users() > 0;
  const TimePoint idle_at = in_use ? TimePoint::max() : session->used_at() + terms_.idle;
  if (now >= idle_at) {
    revoke(session);
    return TimePoint::max();
  }
  const auto is_it = [&](const Care& care) { return care.session == session; };
  const auto care = std::ranges::find_if(cared_for_, is_it);
  if (care == cared_for_.end()) return TimePoint::max();
  if (now >= std::max(session->due_at(), care->ask_at)) {
    care->ask_at = now + std::min<Duration>(terms_.timeout, session->ttl() / 6);
    env_.spawn(renew_in_time(shared_from_this(), session));
  }
  const TimePoint ask_at = std::max(session->due_at(), care->ask_at);
  return std::min({session->valid_until(), ask_at, idle_at});
}

Task<void> Sessions::renew_in_time(std::shared_ptr<Sessions> self, SharedSession session) {
  const TimePoint by = self->env_.now() + std::min<Duration>(self->terms_.timeout, session->ttl());
  const auto renewed = co_await self->renew(session, by);
  const auto is_it = [&](const Care& care) { return care.session == session; };
  const auto care = std::ranges::find_if(self->cared_for_, is_it);
  if (care == self->cared_for_.end()) co_return;
  care->attempts = renewed ? 0 : care->attempts + 1;
  if (renewed) co_return;
  const Duration delay = backoff_delay(self->terms_.retry, care->attempts, self->env_.draw());
  care->ask_at = std::max(care->ask_at, self->env_.now() + delay);
}

}  // namespace holdfast::etcd
