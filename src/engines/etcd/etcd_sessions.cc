#include "engines/etcd/etcd_sessions.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/kept_sessions_impl.h"
#include "engines/etcd/etcd_calls.h"

namespace holdfast::core {

template class KeptSessions<etcd::Session>;

}  // namespace holdfast::core

namespace holdfast::etcd {

Error Sessions::no_answer(const std::optional<Error>& last) const {
  return last.value_or(Error{Errc::unavailable, "the cluster grants no lease in time"});
}

Error Sessions::too_slow(Millis ttl) const {
  return {Errc::unavailable,
          "the cluster answers too slowly for leases of " + std::to_string(ttl.count()) + " ms",
          "use a longer TTL"};
}

Millis Sessions::effective(Millis ttl) const {
  return std::max<Millis>(whole_seconds(ttl), shortest_);
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
  co_return std::make_shared<Session>(lease, Millis{answer->ttl}, sent_at);
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
    changed()->ring();
  }
  co_return Result<void>{};
}

TimePoint Sessions::renewed_by(const Session& session) const {
  return env_.now() + std::min<Duration>(terms_.timeout, session.ttl());
}

void Sessions::dismiss(const SharedSession& session) {
  env_.spawn(revoke(std::static_pointer_cast<Sessions>(shared_from_this()), session));
}

Task<void> Sessions::revoke(std::shared_ptr<Sessions> self, SharedSession session) {
  // The server has ended it by then, since nobody keeps it alive.
  const TimePoint give_up_at = self->env_.now() + 2 * session->ttl();
  for (std::uint32_t attempt = 0; self->env_.now() < give_up_at; ++attempt) {
    const TimePoint by = self->env_.now() + self->terms_.timeout;
    const auto answer = co_await revoked(*self->port_, session->lease(), by);
    if (answer) co_return;
    co_await self->env_.sleep_for(backoff_delay(self->terms_.retry, attempt, self->env_.draw()));
  }
}

}  // namespace holdfast::etcd
