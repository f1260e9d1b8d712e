#include "engines/redis/redis_engine.h"

#include <algorithm>
#include <utility>

#include "core/validity.h"
#include "engines/redis/redis_reply.h"
#include "engines/redis/redis_scripts.h"

namespace holdfast::redis {
namespace {

/// Whether a request is out of which nobody knows if it ran.
enum class Past : std::uint8_t { clear, unsettled };

std::string ttl_text(Millis ttl) { return std::to_string(ttl.count()); }

void note(Past& past, const Error& error) {
  if (error.code == Errc::unknown_outcome) past = Past::unsettled;
}

}  // namespace

RedisEngine::RedisEngine(Env& env, std::shared_ptr<RedisPort> port, Settings settings)
    : env_{env}, port_{std::move(port)}, settings_{std::move(settings)} {}

std::string RedisEngine::lock_key(const LockName& name) const {
  return settings_.prefix + name.text();
}

// Lock names have no control characters, so no lock can have this key.
std::string RedisEngine::counter_key() const { return settings_.prefix + "\x01token"; }

TimePoint RedisEngine::attempt_end(TimePoint answer_by) const {
  return std::min(answer_by, env_.now() + settings_.timeout);
}

Task<Result<core::Grant, AcquireError>> RedisEngine::try_acquire(LockName name,
                                                                 Owner owner,
                                                                 Millis ttl,
                                                                 TimePoint answer_by) {
  const auto self = shared_from_this();
  Past past = Past::clear;
  const SharedCall call = share({.script = &kAcquireScript,
                                 .keys = {lock_key(name), counter_key()},
                                 .args = {owner.to_string(), ttl_text(ttl)}});
  for (std::uint32_t attempt = 0;; ++attempt) {
    // Taken before the request leaves: the server cannot have begun to count the TTL earlier.
    const TimePoint sent_at = env_.now();
    const auto reply = co_await port_->eval(call, attempt_end(answer_by));
    if (reply) {
      const auto token = read_acquire(*reply);
      auto grant = token ? granted(*token, sent_at, ttl) : Unexpected{token.error()};
      const bool left_behind = !grant && (token || past == Past::unsettled);
      if (left_behind) abandon(name, owner, ttl);
      co_return grant;
    }
    note(past, reply.error());
    const Duration delay = backoff_delay(settings_.retry, attempt, env_.draw());
    if (env_.now() + delay >= answer_by) {
      if (past == Past::clear) co_return Unexpected{reply.error()};
      abandon(name, owner, ttl);
      co_return Unexpected{Error{Errc::unknown_outcome, "the server did not answer in time"}};
    }
    co_await env_.sleep_for(delay);
  }
}

Result<core::Grant, AcquireError> RedisEngine::granted(Token token,
                                                       TimePoint sent_at,
                                                       Millis ttl) const {
  const TimePoint valid_until = core::deadline_of(sent_at, ttl);
  if (env_.now() >= valid_until) {
    return Unexpected{Error{Errc::timeout,
                            "the grant took longer to arrive than the lease lasts",
                            "use a longer TTL, or a server that answers faster"}};
  }
  return core::Grant{.token = token, .sent_at = sent_at, .valid_until = valid_until};
}

Task<Result<std::vector<core::Fate>>> RedisEngine::renew(std::vector<core::HeldLease> leases,
                                                         Millis ttl,
                                                         TimePoint answer_by) {
  const auto self = shared_from_this();
  ScriptCall call{.script = &kRenewScript, .keys = {}, .args = {ttl_text(ttl)}};
  for (const core::HeldLease& lease : leases) {
    call.keys.push_back(lock_key(lease.name));
    call.args.push_back(lock_value(lease.owner, lease.token));
  }
  const SharedCall shared = share(std::move(call));
  const auto reply = co_await port_->eval(shared, answer_by);
  if (!reply) co_return Unexpected{reply.error()};
  co_return read_renew(*reply, leases.size());
}

Task<Result<Reply>> RedisEngine::ask_to_release(LockName name, Owner owner, TimePoint answer_by) {
  const SharedCall call =
      share({.script = &kReleaseScript, .keys = {lock_key(name)}, .args = {owner.to_string()}});
  co_return co_await port_->eval(call, attempt_end(answer_by));
}

Task<ReleaseOutcome> RedisEngine::release(core::HeldLease lease,
                                          TimePoint valid_until,
                                          TimePoint answer_by) {
  const auto self = shared_from_this();
  Past past = Past::clear;
  for (std::uint32_t attempt = 0;; ++attempt) {
    const auto reply = co_await ask_to_release(lease.name, lease.owner, answer_by);
    const auto removal = reply ? read_release(*reply) : Unexpected{reply.error()};
    if (removal && *removal == Removal::removed) co_return ReleaseOutcome::released;
    if (removal) {
      // The lease still stands, so it was our own unanswered request that removed it.
      const bool by_us = past == Past::unsettled && env_.now() < valid_until;
      co_return by_us ? ReleaseOutcome::released : ReleaseOutcome::already_lost;
    }
    note(past, removal.error());
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
  for (std::uint32_t attempt = 0; self->env_.now() < answer_by; ++attempt) {
    const auto reply = co_await self->ask_to_release(name, owner, answer_by);
    if (reply && read_release(*reply)) co_return;
    const Duration delay = backoff_delay(self->settings_.retry, attempt, self->env_.draw());
    co_await self->env_.sleep_for(delay);
  }
}

}  // namespace holdfast::redis
