#include "engines/zookeeper/zookeeper_sessions.h"

#include <algorithm>
#include <utility>

namespace holdfast::zookeeper {
namespace {

// What any server needs to answer who is asked to.
constexpr Millis kConnecting{250};

Error too_slow(Millis ttl) {
  return {Errc::unavailable,
          "the servers answer too slowly for leases of " + std::to_string(ttl.count()) + " ms",
          "use a longer TTL"};
}

Error no_server(const Session& session) {
  const auto& why = session.trouble();
  if (!why) return {Errc::unavailable, "no ZooKeeper server answered in time"};
  return {Errc::unavailable, why->message, why->remedy_text};
}

}  // namespace

/// What several wait for: that there is a session for them.
struct Sessions::Inquiry {
  std::optional<Result<void>> answer;
  std::vector<std::shared_ptr<Alarm>> waiting;
};

Sessions::Sessions(Env& env,
                   std::shared_ptr<ZookeeperPort> port,
                   Terms terms,
                   std::function<void(const SharedSession&)> on_end)
    : env_{env},
      port_{std::move(port)},
      terms_{terms},
      on_end_{std::move(on_end)},
      changed_{std::make_shared<Alarm>(env)} {}

Sessions::~Sessions() {
  changed_->ring();
  for (const auto& [ttl, session] : shared_) {
    if (session->line) session->line->close();
  }
}

Millis Sessions::effective(Millis ttl) const { return std::clamp(ttl, shortest_, longest_); }

Sessions::SharedSession Sessions::current(Millis ttl) const {
  const auto found = shared_.find(effective(ttl));
  return found == shared_.end() ? nullptr : found->second;
}

Task<Result<SessionUse>> Sessions::enter(Millis ttl, LeaseKind kind, TimePoint answer_by) {
  const auto self = shared_from_this();
  // What a server said last tells more than that the time is up.
  Error cause{Errc::unavailable, "no ZooKeeper server answered in time"};
  for (std::uint32_t attempt = 0;; ++attempt) {
    Result<void> asked{};
    if (kind == LeaseKind::detached) {
      SessionAsk ask{.timeout = effective(ttl)};
      auto own = co_await open(std::move(ask), answer_by);
      if (own) take_in(*own);
      if (own) co_return SessionUse{*std::move(own), env_.now()};
      asked = Unexpected{std::move(own).error()};
    } else {
      const SharedSession session = current(ttl);
      if (session && session->is_fresh(env_.now())) co_return SessionUse{session, env_.now()};
      const auto answered = co_await ask_for(effective(ttl), answer_by);
      if (!answered) {
        if (trouble_) cause = {Errc::unavailable, trouble_->message, trouble_->remedy_text};
        co_return Unexpected{std::move(cause)};
      }
      asked = *answered;
      if (asked && env_.now() < answer_by) continue;
      if (asked) asked = Unexpected{too_slow(ttl)};
    }
    cause = asked.error();
    const bool may_pass = cause.code == Errc::unavailable || cause.code == Errc::unknown_outcome ||
                          cause.code == Errc::lost;
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
    SessionAsk ask{.timeout = ttl};
    const TimePoint by = self->env_.now() + self->terms_.patience;
    const auto made = co_await self->open(std::move(ask), by);
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

Task<Result<Sessions::SharedSession>> Sessions::open(SessionAsk ask, TimePoint answer_by) {
  const auto self = shared_from_this();
  const auto session = std::make_shared<Session>(env_.now());
  const Millis asked = ask.timeout;
  const bool resumes = ask.resume.has_value();
  auto on_event = [weak = weak_from_this(),
                   to = std::weak_ptr{session}](const SessionEvent& event) {
    const auto sessions = weak.lock();
    const auto hearing = to.lock();
    if (sessions && hearing) sessions->hear(hearing, event);
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
      for (Care& care : cared_for_) {
        if (care.session == kept) care.ask_at = TimePoint::min();
      }
      changed_->ring();
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

void Sessions::take_in(SharedSession session) {
  cared_for_.push_back({.session = std::move(session)});
  if (std::exchange(keeping_up_, true)) return changed_->ring();
  env_.spawn(keep_up(weak_from_this(), changed_));
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
    changed_->ring();
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
  for (Care& care : cared_for_) {
    if (care.session != session) continue;
    care.ask_at = env_.now() + std::max<Duration>(session->ttl() / 12, kConnecting);
  }
  changed_->ring();
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

void Sessions::end(const SharedSession& session, LossReason reason) {
  if (session->is_over()) return;
  const SharedSession kept = session;
  kept->end_as(reason);
  forget(kept);
  kept->line->drop();
  if (kept->users() > 0 && on_end_) on_end_(kept);
}

bool Sessions::expire(const SharedSession& session) {
  if (session->is_over()) return true;
  if (env_.now() < session->valid_until()) return false;
  const SharedSession kept = session;
  kept->end_as(LossReason::expired);
  // Its nodes may stand for a while yet, and keep others waiting.
  close(kept);
  if (kept->users() > 0 && on_end_) on_end_(kept);
  return true;
}

void Sessions::forget(const SharedSession& session) {
  const auto is_it = [&](const auto& entry) { return entry.second == session; };
  std::erase_if(shared_, is_it);
  std::erase_if(cared_for_, [&](const Care& care) { return care.session == session; });
  changed_->ring();
}

void Sessions::leave_alone(const SharedSession& session) {
  const SharedSession kept = session;
  forget(kept);
  kept->end_as(LossReason::abandoned);
  kept->line->drop();
}

void Sessions::close(const SharedSession& session) {
  const SharedSession kept = session;
  forget(kept);
  kept->end_as(LossReason::abandoned);
  kept->line->close();
  env_.spawn(linger(shared_from_this(), kept));
}

/// Until the server has heard of its end, or has ended it by itself.
Task<void> Sessions::linger(std::shared_ptr<Sessions> self, SharedSession session) {
  const Millis wait = session->is_made() ? session->ttl() : self->terms_.timeout;
  co_await self->env_.sleep_for(std::min(wait, self->terms_.patience));
  session->line->drop();
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
    close(session);
    return TimePoint::max();
  }
  const auto is_it = [&](const Care& care) { return care.session == session; };
  const auto care = std::ranges::find_if(cared_for_, is_it);
  if (care == cared_for_.end()) return TimePoint::max();
  if (!session->is_connected()) {
    // It may be stuck at a server that hangs.
    if (now >= care->ask_at) open_again(session, no_server(*session));
    return std::min(session->valid_until(), now + kConnecting);
  }
  if (now >= std::max(session->due_at(), care->ask_at)) {
    care->ask_at = now + std::min<Duration>(terms_.timeout, session->ttl() / 6);
    env_.spawn(renew_in_time(shared_from_this(), session));
  }
  const TimePoint ask_at = std::max(session->due_at(), care->ask_at);
  return std::min({session->valid_until(), ask_at, idle_at});
}

Task<void> Sessions::renew_in_time(std::shared_ptr<Sessions> self, SharedSession session) {
  const Duration patience = std::min<Duration>(self->terms_.timeout, session->ttl() / 6);
  const auto renewed = co_await self->renew(session, self->env_.now() + patience);
  const auto is_it = [&](const Care& care) { return care.session == session; };
  const auto care = std::ranges::find_if(self->cared_for_, is_it);
  if (care == self->cared_for_.end()) co_return;
  care->attempts = renewed ? 0 : care->attempts + 1;
  if (renewed) co_return;
  const Duration delay = backoff_delay(self->terms_.retry, care->attempts, self->env_.draw());
  care->ask_at = std::max(care->ask_at, self->env_.now() + delay);
}

}  // namespace holdfast::zookeeper
