#include "engines/zookeeper/zookeeper_sessions.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/kept_sessions_impl.h"

namespace holdfast::core {

template class KeptSessions<zookeeper::Session>;

}  // namespace holdfast::core

namespace holdfast::zookeeper {
namespace {

// What any server needs to answer who is asked to.
constexpr Millis kConnecting{250};

Error no_server(const Session& session) {
  const auto& why = session.trouble();
  if (!why) return {Errc::unavailable, "no ZooKeeper server answered in time"};
  return {Errc::unavailable, why->message, why->remedy_text};
}

}  // namespace

Sessions::~Sessions() {
  for (const auto& [ttl, session] : shared()) {
    if (session->line) session->line->close();
  }
}

Millis Sessions::effective(Millis ttl) const { return std::clamp(ttl, shortest_, longest_); }

Error Sessions::no_answer(const std::optional<Error>& last) const {
  if (trouble_) return {Errc::unavailable, trouble_->message, trouble_->remedy_text};
  return last.value_or(Error{Errc::unavailable, "no ZooKeeper server answered in time"});
}

Error Sessions::too_slow(Millis ttl) const {
  return {Errc::unavailable,
          "the servers answer too slowly for leases of " + std::to_string(ttl.count()) + " ms",
          "use a longer TTL"};
}

Task<Result<Sessions::SharedSession>> Sessions::make(Millis ttl, TimePoint answer_by) {
  return open({.timeout = ttl}, answer_by);
}

Task<Result<Sessions::SharedSession>> Sessions::open(SessionAsk ask, TimePoint answer_by) {
  const auto self = shared_from_this();
  const auto session = std::make_shared<Session>(env_.now());
  const Millis asked = ask.timeout;
  const bool resumes = ask.resume.has_value();
  auto on_event =
      [this, weak = weak_from_this(), to = std::weak_ptr{session}](const SessionEvent& event) {
        const auto sessions = weak.lock();
        const auto hearing = to.lock();
        if (sessions && hearing) hear(hearing, event);
      };
  session->line = std::make_shared<SessionLine>(env_, port_, std::move(on_event));
  session->line->open(std::move(ask));
  const auto alarm = std::make_shared<Alarm>(env_);
  while (!session->is_made() && !session->is_over() && env_.now() < answer_by) {
    session->await_change(alarm);
    co_await alarm->wait_until(answer_by);
  }
  if (session->is_made() && !session->is_over()) {
    if (!resumes) learn(asked, session->ttl());
    co_return session;
  }
  const auto trouble = session->trouble();
  const bool refused = session->is_over() && trouble.has_value();
  Error why = refused ? *trouble : no_server(*session);
  if (session->is_over() && !refused) why = {Errc::lost, "the session is over"};
  session->end_as(LossReason::abandoned);
  session->line->drop();
  co_return Unexpected{std::move(why)};
}

void Sessions::learn(Millis asked, Millis granted) {
  if (granted > asked) shortest_ = std::min(std::max(shortest_, granted), longest_);
  if (granted < asked) longest_ = std::max(std::min(longest_, granted), shortest_);
}

void Sessions::hear(const SharedSession& session, const SessionEvent& event) {
  if (session->is_over()) return;
  const SharedSession kept = session;
  switch (event.kind) {
    case SessionEvent::Kind::connected:
      // With less than was promised to its locks nothing is sure any more.
      if (kept->is_made() && event.timeout < kept->ttl()) return end(kept, LossReason::revoked);
      kept->connect(event);
      trouble_.reset();
      if (Care* const care = care_of(kept)) care->ask_at = TimePoint::min();
      changed()->ring();
      break;
    case SessionEvent::Kind::disconnected:
      kept->disconnect(event.error);
      if (kept->is_made()) give_time(kept);
      trouble_ = event.error;
      break;
    case SessionEvent::Kind::expired:
      end(kept, kept->explain_end(env_.now()));
      break;
    case SessionEvent::Kind::refused:
      kept->refuse(event.error);
      end(kept, kept->explain_end(env_.now()));
      break;
    case SessionEvent::Kind::changed:
      break;
  }
}

Task<Result<void>> Sessions::renew(SharedSession session, TimePoint answer_by) {
  const auto self = shared_from_this();
  if (session->is_over()) co_return Result<void>{};
  const Duration ttl{session->ttl()};
  // Sooner than any heartbeat comes: it would show nothing yet.
  const bool early = env_.now() < session->validity().confirmed_at() + ttl / 4;
  if (early && !session->validity().unconfirmed()) co_return co_await reconnect(session, answer_by);
  const TimePoint worth_at = session->validity().worth_at();
  if (worth_at < std::min(answer_by, env_.now() + ttl / 12)) co_await env_.sleep_until(worth_at);
  co_return co_await beat(session, answer_by);
}

Task<Result<void>> Sessions::beat(SharedSession session, TimePoint answer_by) {
  const TimePoint sent_at = env_.now();
  const std::size_t connection = session->connections();
  // Whatever comes of it, a majority has to agree that it came to that.
  const SharedRequest heartbeat = share(Multi{.steps = {Check{.path = "/"}}});
  const auto line = session->line;
  const auto answer = co_await line->answered(heartbeat, answer_by);
  if (session->is_over()) co_return Result<void>{};
  if (answer || answer.error().code == Errc::denied) {
    if (session->connections() == connection) session->acknowledge(sent_at, env_.now());
    changed()->ring();
    co_return Result<void>{};
  }
  if (answer.error().code == Errc::lost) {
    end(session, session->explain_end(env_.now()));
    co_return Result<void>{};
  }
  // A server that does not answer, though its connection stands: another may.
  const bool hangs = session->is_connected() && session->connections() == connection;
  if (hangs) open_again(session, answer.error());
  co_return Unexpected{answer.error()};
}

void Sessions::open_again(const SharedSession& session, Error why) {
  session->disconnect(std::move(why));
  session->line->open({.timeout = session->ttl(), .resume = session->key()});
  give_time(session);
}

void Sessions::give_time(const SharedSession& session) {
  if (Care* const care = care_of(session)) {
    care->ask_at = env_.now() + std::max<Duration>(session->ttl() / 12, kConnecting);
  }
  changed()->ring();
}

Task<Result<void>> Sessions::reconnect(SharedSession session, TimePoint answer_by) {
  const auto self = shared_from_this();
  if (session->is_over()) co_return Result<void>{};
  const std::size_t before = session->connections();
  if (session->is_connected()) {
    open_again(session, {Errc::unavailable, "the connection is made anew"});
  }
  const auto alarm = std::make_shared<Alarm>(env_);
  const auto pending = [&] { return !session->is_over() && session->connections() == before; };
  while (pending() && env_.now() < answer_by) {
    session->await_change(alarm);
    co_await alarm->wait_until(answer_by);
  }
  if (pending()) co_return Unexpected{no_server(*session)};
  if (session->is_over()) co_return Result<void>{};
  co_return co_await beat(session, answer_by);
}

void Sessions::leave_alone(const SharedSession& session) {
  const SharedSession kept = session;
  forget(kept);
  kept->end_as(LossReason::abandoned);
  kept->line->drop();
}

void Sessions::dropped(const SharedSession& session) { session->line->drop(); }

void Sessions::dismiss(const SharedSession& session) {
  session->line->close();
  env_.spawn(linger(std::static_pointer_cast<Sessions>(shared_from_this()), session));
}

/// Until the server has heard of its end, or has ended it by itself.
Task<void> Sessions::linger(std::shared_ptr<Sessions> self, SharedSession session) {
  const Millis wait = session->is_made() ? session->ttl() : self->terms_.timeout;
  co_await self->env_.sleep_for(std::min(wait, self->terms_.patience));
  session->line->drop();
}

std::optional<TimePoint> Sessions::mend(const SharedSession& session, const Care& care) {
  if (session->is_connected()) return std::nullopt;
  // It may be stuck at a server that hangs.
  if (env_.now() >= care.ask_at) open_again(session, no_server(*session));
  return env_.now() + kConnecting;
}

TimePoint Sessions::renewed_by(const Session& session) const {
  return env_.now() + std::min<Duration>(terms_.timeout, session.ttl() / 6);
}

}  // namespace holdfast::zookeeper
