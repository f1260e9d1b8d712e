#include "engines/redis/redis_engine.h"

#include <algorithm>
#include <utility>

#include "core/validity.h"
#include "engines/redis/redis_reply.h"
#include "engines/redis/redis_scripts.h"

namespace holdfast::redis {
namespace {

// A script holds up the whole server: so many leases at a time.
constexpr std::size_t kRenewMax = 100;

constexpr Millis kExplainMax{250};

std::string number(Millis time) { return std::to_string(time.count()); }

/// Whether it is the plain string that other clients have, too.
bool is_plain(const core::Claim& claim, Millis lock_delay) {
  return claim.mode == Mode::exclusive && lock_delay == Millis{0};
}

}  // namespace

/// One renewal of many leases, by several scripts.
struct RedisEngine::Renewal {
  Renewal(Env& env, std::vector<core::HeldLease> leases_in, Millis ttl_in, TimePoint answer_by_in)
      : leases{std::move(leases_in)},
        ttl{ttl_in},
        answer_by{answer_by_in},
        fates(leases.size(), core::Fate::unknown),
        complete{env} {}

  std::vector<core::HeldLease> leases;
  Millis ttl;
  TimePoint answer_by;
  std::vector<core::Fate> fates;
  std::size_t under_way{0};
  std::size_t answered{0};
  Error failure{};
  Alarm complete;
};

RedisEngine::RedisEngine(Env& env, std::shared_ptr<RedisPort> port, Settings settings)
    : env_{env},
      port_{std::move(port)},
      settings_{std::move(settings)},
      keys_{settings_.prefix, settings_.spread},
      watch_{settings_.spread == Spread::one_server ? std::make_shared<ServerWatch>(env, port_)
                                                    : nullptr},
      waiting_{std::make_shared<Waiting>(
          env, port_, keys_, Waiting::Settings{settings_.timeout, [this](const auto& stray) {
                                                 // Requests under way outlive the engine, and then
                                                 // nobody is left to care.
                                                 if (const auto self = weak_from_this().lock()) {
                                                   self->abandon(
                                                       stray.name, stray.owner, stray.ttl);
                                                 }
                                               }})} {}

void RedisEngine::attend() {
  if (std::exchange(attending_, true)) return;
  if (watch_) watch_->glance();
  port_->subscribe(keys_.breaks(), [weak = weak_from_this()](const Heard& heard) {
    if (const auto self = weak.lock()) self->hear(heard);
  });
}

void RedisEngine::hear(const Heard& heard) {
  const auto news = news_.lock();
  if (!news) return;
  if (heard.kind == Heard::Kind::listening) {
    // What was broken before was not heard, and what ended a connection may have ended leases, too.
    return news->in_doubt();
  }
  for (const Owner& owner : read_broken(heard.text)) news->lost(owner, LossReason::broken);
}

TimePoint RedisEngine::attempt_end(TimePoint answer_by) const {
  return std::min(answer_by, env_.now() + settings_.timeout);
}

Task<Result<core::Grant, AcquireError>> RedisEngine::acquire(core::LockRequest request,
                                                             TimePoint wait_until,
                                                             std::stop_token stop) {
  const auto self = shared_from_this();
  if (auto good = keys_.check(request.name.text()); !good) {
    co_return Unexpected{AcquireError{std::move(good).error()}};
  }
  const bool waits = env_.now() < wait_until;
  const auto waiter = std::make_shared<Waiter>(env_, request);
  // Before the request leaves: the lock may be handed over before its answer is here.
  auto place = waits ? waiting_->enter(waiter) : nullptr;
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
    if (!waits) co_return refused(*waiter, Errc::busy);
    co_await wait_for_call(waiter, wait_until, stop);
    if (waiter->token) co_return granted(*waiter);
    const bool cancelled = stop.stop_requested();
    if (!cancelled && env_.now() < wait_until) continue;
    const TimePoint in_time = env_.now() + settings_.timeout;
    const TimePoint by = cancelled ? in_time : std::min(in_time, wait_until + settings_.patience);
    // First of all, or a refresh would put it in line again.
    place.reset();
    const Left left = co_await leave(request.name, request.owner, by);
    AcquireError gave_up{cancelled ? Errc::cancelled : Errc::timeout};
    if (left == Left::unknown) co_return refused(*waiter, std::move(gave_up));
    gave_up.holder = waiter->holder;
    co_return Unexpected{std::move(gave_up)};
  }
}

Task<RedisEngine::Left> RedisEngine::leave(LockName name, Owner owner, TimePoint answer_by) {
  const SharedCall call = release_call(name, owner);
  const auto reply = co_await port_->eval(call, answer_by);
  co_return reply&& read_release(*reply) ? Left::surely : Left::unknown;
}

std::vector<std::string> RedisEngine::lock_keys(const LockName& name) const {
  return {keys_.lock(name),
          keys_.counter(name),
          keys_.queue(name),
          keys_.waiters(name),
          keys_.holders(name)};
}

SharedCall RedisEngine::acquire_call(const core::LockRequest& request, bool waits) const {
  ScriptCall call{.script = &kAcquireScript,
                  .keys = lock_keys(request.name),
                  .args = {request.owner.to_string(),
                           number(request.ttl),
                           request.note,
                           stamp_of(env_.now()),
                           waits ? waiting_->channel(request.name) : std::string{}}};
  if (!is_plain(request.claim, request.lock_delay)) {
    call.script = &kShareScript;
    call.args.push_back(claim_text(request.claim));
    call.args.push_back(number(request.lock_delay));
  }
  return share(std::move(call));
}

Task<Result<void>> RedisEngine::ask(std::shared_ptr<Waiter> waiter,
                                    bool waits,
                                    std::stop_token stop) {
  const TimePoint answer_by = env_.now() + settings_.patience;
  bool unsettled = false;
  for (std::uint32_t attempt = 0;; ++attempt) {
    const TimePoint sent_at = env_.now();
    const SharedCall call = acquire_call(waiter->request, waits);
    const auto reply = co_await port_->eval(call, attempt_end(answer_by));
    const auto asked = reply ? read_asked(*reply) : Unexpected{reply.error()};
    if (asked) {
      waiter->note(*asked, sent_at, env_.now());
      co_return Result<void>{};
    }
    if (waiter->token) co_return Result<void>{};
    const Errc code = asked.error().code;
    unsettled = unsettled || code == Errc::unknown_outcome;
    const bool may_pass = code == Errc::unknown_outcome || code == Errc::unavailable;
    const Duration delay = backoff_delay(settings_.retry, attempt, env_.draw());
    if (!may_pass || env_.now() + delay >= answer_by || stop.stop_requested()) {
      if (!may_pass || !unsettled) co_return Unexpected{asked.error()};
      co_return Unexpected{Error{Errc::unknown_outcome, asked.error().message}};
    }
    co_await env_.sleep_for(delay);
  }
}

Task<void> RedisEngine::wait_for_call(std::shared_ptr<Waiter> waiter,
                                      TimePoint wait_until,
                                      std::stop_token stop) {
  for (;;) {
    if (waiter->token || stop.stop_requested()) co_return;
    const TimePoint due = std::min(wait_until, waiter->ask_at);
    const Wake woken = co_await waiter->changed.wait_until(due);
    if (woken == Wake::due) co_return;
  }
}

RedisEngine::Granted RedisEngine::granted(const Waiter& waiter) {
  const core::LockRequest& request = waiter.request;
  const TimePoint valid_until = core::deadline_of(waiter.sent_at, request.ttl);
  if (env_.now() < valid_until) {
    attend();
    return core::Grant{
        .token = *waiter.token, .sent_at = waiter.sent_at, .valid_until = valid_until};
  }
  return refused(waiter,
                 {Errc::timeout,
                  "the grant took longer to arrive than the lease lasts",
                  "use a longer TTL, or a server that answers faster"});
}

// One that never stood in line and took nothing has left nothing at the server.
RedisEngine::Granted RedisEngine::refused(const Waiter& waiter, Error error) {
  const bool left_nothing =
      error.code == Errc::busy || (error.code == Errc::unavailable && !waiter.answered);
  const core::LockRequest& request = waiter.request;
  if (!left_nothing) abandon(request.name, request.owner, request.ttl);
  AcquireError refusal{std::move(error)};
  refusal.holder = waiter.holder;
  return Unexpected{std::move(refusal)};
}

void RedisEngine::renew_some(const std::shared_ptr<Renewal>& renewal,
                             const Script& script,
                             std::vector<std::size_t> which) {
  ScriptCall call{.script = &script, .keys = {}, .args = {number(renewal->ttl)}};
  for (const std::size_t i : which) {
    const core::HeldLease& lease = renewal->leases[i];
    call.keys.push_back(keys_.lock(lease.name));
    if (&script == &kKeepScript) call.keys.push_back(keys_.holders(lease.name));
    call.keys.push_back(keys_.broken(lease.name));
    call.args.push_back(lock_value(lease.owner, lease.token));
  }
  auto on_answer =
      [self = shared_from_this(), renewal, which = std::move(which)](Result<Reply> reply) {
        const auto fates = reply ? read_renew(*reply, which.size()) : Unexpected{reply.error()};
        if (fates) {
          self->note_fates(*renewal, which, *fates);
        } else {
          renewal->failure = fates.error();
        }
        if (--renewal->under_way == 0) renewal->complete.ring();
      };
  ++renewal->under_way;
  // Soon enough to try another connection while the lease stands.
  const Millis patience = std::min(settings_.timeout, std::max(renewal->ttl / 6, Millis{100}));
  const TimePoint by = std::min(renewal->answer_by, env_.now() + patience);
  port_->send(share(std::move(call)), by, std::move(on_answer));
}

void RedisEngine::note_fates(Renewal& renewal,
                             const std::vector<std::size_t>& which,
                             const std::vector<core::Fate>& fates) const {
  ++renewal.answered;
  for (std::size_t i = 0; i < which.size(); ++i) {
    core::Fate fate = fates[i];
    // It was renewed less than a TTL ago, and by the server before this one.
    const auto is_new = [&] {
      const std::string key = keys_.lock(renewal.leases[which[i]].name);
      return port_->in_charge_since(key) > env_.now() - renewal.ttl;
    };
    if (fate == core::Fate::gone && is_new()) fate = core::Fate::failed_over;
    renewal.fates[which[i]] = fate;
  }
}

Task<Result<std::vector<core::Fate>>> RedisEngine::renew(std::vector<core::HeldLease> leases,
                                                         Millis ttl,
                                                         TimePoint answer_by) {
  const auto self = shared_from_this();
  const auto renewal = std::make_shared<Renewal>(env_, std::move(leases), ttl, answer_by);
  const std::size_t count = renewal->leases.size();
  for (const bool plain : {true, false}) {
    std::vector<std::size_t> which;
    std::vector<std::uint16_t> slots;
    for (std::size_t i = 0; i < count; ++i) {
      const core::HeldLease& lease = renewal->leases[i];
      if (is_plain(lease.claim, lease.lock_delay) != plain) continue;
      which.push_back(i);
      slots.push_back(keys_.slot(lease.name));
    }
    for (auto& batch : slot_batches(slots, kRenewMax)) {
      for (std::size_t& at : batch) at = which[at];
      renew_some(renewal, plain ? kRenewScript : kKeepScript, std::move(batch));
    }
  }
  if (count > 0) co_await renewal->complete.wait_until(TimePoint::max());
  if (count > 0 && renewal->answered == 0) co_return Unexpected{renewal->failure};
  if (watch_ && std::ranges::count(renewal->fates, core::Fate::gone) > 0) {
    // Not for long: whoever holds these must hear of it.
    const TimePoint by = env_.now() + std::min({settings_.timeout, ttl / 6, kExplainMax});
    const core::Fate why = co_await watch_->explain(ttl, by);
    std::ranges::replace(renewal->fates, core::Fate::gone, why);
  } else if (watch_ && count > 0) {
    watch_->glance();
  }
  co_return renewal->fates;
}

SharedCall RedisEngine::release_call(const LockName& name, const Owner& owner) const {
  return share({.script = &kReleaseScript, .keys = lock_keys(name), .args = {owner.to_string()}});
}

SharedCall RedisEngine::release_call(const core::HeldLease& lease) const {
  return share({.script = &kReleaseScript,
                .keys = lock_keys(lease.name),
                .args = {lease.owner.to_string(), std::to_string(lease.token.value())}});
}

Task<ReleaseOutcome> RedisEngine::release(core::HeldLease lease,
                                          TimePoint valid_until,
                                          TimePoint answer_by) {
  return release_once(release_call(lease), valid_until, answer_by);
}

Task<ReleaseOutcome> RedisEngine::release(LockName name, Owner owner, TimePoint answer_by) {
  return release_once(release_call(name, owner), TimePoint::min(), answer_by);
}

Task<ReleaseOutcome> RedisEngine::release_once(SharedCall call,
                                               TimePoint valid_until,
                                               TimePoint answer_by) {
  const auto self = shared_from_this();
  bool unsettled = false;
  for (std::uint32_t attempt = 0;; ++attempt) {
    const auto reply = co_await port_->eval(call, attempt_end(answer_by));
    const auto removal = reply ? read_release(*reply) : Unexpected{reply.error()};
    if (removal && *removal == Removal::removed) co_return ReleaseOutcome::released;
    if (removal && !unsettled) co_return ReleaseOutcome::already_lost;
    if (removal) {
      // Where the lease still stands, it was our own unanswered request that removed it.
      const bool by_us = env_.now() < valid_until;
      co_return by_us ? ReleaseOutcome::released : ReleaseOutcome::unknown;
    }
    unsettled = unsettled || removal.error().code == Errc::unknown_outcome;
    const Duration delay = backoff_delay(settings_.retry, attempt, env_.draw());
    if (env_.now() + delay >= answer_by) co_return ReleaseOutcome::unknown;
    co_await env_.sleep_for(delay);
  }
}

void RedisEngine::abandon(LockName name, Owner owner, Millis ttl) {
  env_.spawn(release_until(shared_from_this(), std::move(name), owner, env_.now() + ttl));
}

Task<void> RedisEngine::release_until(std::shared_ptr<RedisEngine> self,
                                      LockName name,
                                      Owner owner,
                                      TimePoint answer_by) {
  const SharedCall call = self->release_call(name, owner);
  for (std::uint32_t attempt = 0; self->env_.now() < answer_by; ++attempt) {
    const auto reply = co_await self->port_->eval(call, self->attempt_end(answer_by));
    if (reply && read_release(*reply)) co_return;
    const Duration delay = backoff_delay(self->settings_.retry, attempt, self->env_.draw());
    co_await self->env_.sleep_for(delay);
  }
}

}  // namespace holdfast::redis
