#include "engines/redlock/redlock_engine.h"

#include <algorithm>
#include <utility>

#include "base/alarm.h"
#include "core/validity.h"
#include "engines/redis/redis_reply.h"
#include "engines/redis/redis_scripts.h"
#include "engines/redlock/redlock_scripts.h"
#include "engines/redlock/tally.h"

namespace holdfast::redlock {
namespace {

std::string number(Millis time) { return std::to_string(time.count()); }
std::string number(Token token) { return std::to_string(token.value()); }

bool is_one(const redis::Reply& reply) {
  return reply.kind == redis::Reply::Kind::integer && reply.integer == 1;
}

}  // namespace

/// One attempt, shared by the tasks that talk to the nodes.
struct RedlockEngine::Attempt {
  Attempt(Env& env, std::size_t nodes, LockName name_in, Owner owner_in, Millis ttl_in)
      : name{std::move(name_in)},
        owner{owner_in},
        ttl{ttl_in},
        sent_at{env.now()},
        tally{nodes},
        changed{env} {}

  LockName name;
  Owner owner;
  Millis ttl;
  TimePoint sent_at;
  Tally tally;
  Alarm changed;
  std::optional<Contender> holder;
  std::vector<NodeError> errors;
};

/// The answers of all nodes to one call.
struct RedlockEngine::Replies {
  Replies(Env& env, std::size_t nodes, redis::ScriptCall call_in, TimePoint answer_by_in)
      : call{std::move(call_in)}, answer_by{answer_by_in}, answers(nodes), changed{env} {}

  redis::ScriptCall call;
  TimePoint answer_by;
  std::vector<std::optional<Result<redis::Reply>>> answers;
  std::size_t arrived{0};
  Alarm changed;
};

RedlockEngine::RedlockEngine(Env& env,
                             std::vector<std::shared_ptr<redis::RedisPort>> nodes,
                             Settings settings)
    : env_{env}, nodes_{std::move(nodes)}, settings_{std::move(settings)} {}

// Lock names have no control characters, so no lock can have the keys of a counter.
std::vector<std::string> RedlockEngine::keys_of(const LockName& name) const {
  return {settings_.prefix + name.text(),
          settings_.prefix + "\x01token:" + name.text(),
          settings_.prefix + "\x01token"};
}

redis::ScriptCall RedlockEngine::take(const LockName& name, const Owner& owner, Millis ttl) const {
  return {.script = &kTakeScript,
          .keys = keys_of(name),
          .args = {owner.to_string(), number(ttl), number(settings_.counter_ttl)}};
}

redis::ScriptCall RedlockEngine::confirm(const LockName& name,
                                         const Owner& owner,
                                         Token token) const {
  return {.script = &kConfirmScript,
          .keys = keys_of(name),
          .args = {owner.to_string(), number(token), number(settings_.counter_ttl)}};
}

redis::ScriptCall RedlockEngine::remove(const LockName& name, const Owner& owner) const {
  return {.script = &redis::kReleaseScript,
          .keys = {settings_.prefix + name.text()},
          .args = {owner.to_string()}};
}

Task<void> RedlockEngine::take_at(std::shared_ptr<RedlockEngine> self,
                                  std::shared_ptr<Attempt> attempt,
                                  std::size_t node) {
  auto call = self->take(attempt->name, attempt->owner, attempt->ttl);
  const auto reply = co_await self->nodes_[node]->eval(std::move(call),
                                                       attempt->sent_at + self->settings_.timeout);
  const auto grant = reply ? redis::read_acquire(*reply) : Unexpected{AcquireError{reply.error()}};
  if (grant) {
    attempt->tally.granted(node, *grant);
  } else {
    attempt->tally.refused(node);
    if (grant.error().holder) attempt->holder = grant.error().holder;
    attempt->errors.push_back({.node = std::to_string(node), .message = grant.error().message});
  }
  self->confirm_laggards(attempt);
  attempt->changed.ring();
}

void RedlockEngine::confirm_laggards(const std::shared_ptr<Attempt>& attempt) {
  if (attempt->tally.stage() != Tally::Stage::confirming) return;
  for (const std::size_t node : attempt->tally.take_laggards()) {
    env_.spawn(confirm_at(shared_from_this(), attempt, node));
  }
}

Task<void> RedlockEngine::confirm_at(std::shared_ptr<RedlockEngine> self,
                                     std::shared_ptr<Attempt> attempt,
                                     std::size_t node) {
  auto call = self->confirm(attempt->name, attempt->owner, *attempt->tally.token());
  const TimePoint answer_by = self->env_.now() + self->settings_.timeout;
  const auto reply = co_await self->nodes_[node]->eval(std::move(call), answer_by);
  if (reply && is_one(*reply)) {
    attempt->tally.confirmed(node);
  } else {
    attempt->tally.not_confirmed(node);
    attempt->errors.push_back(
        {.node = std::to_string(node), .message = "the token was not confirmed"});
  }
  attempt->changed.ring();
}

Task<Result<redis::Grant, AcquireError>> RedlockEngine::try_acquire(LockName name,
                                                                    Owner owner,
                                                                    Millis ttl) {
  const auto self = shared_from_this();
  const auto attempt = std::make_shared<Attempt>(env_, nodes_.size(), name, owner, ttl);
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    env_.spawn(take_at(self, attempt, node));
  }
  while (attempt->tally.stage() == Tally::Stage::taking ||
         attempt->tally.stage() == Tally::Stage::confirming) {
    co_await attempt->changed.wait_until(TimePoint::max());
  }
  auto grant = conclude(*attempt);
  if (!grant) abandon(name, owner);
  co_return grant;
}

Result<redis::Grant, AcquireError> RedlockEngine::conclude(const Attempt& attempt) const {
  if (attempt.tally.stage() == Tally::Stage::held) {
    const TimePoint valid_until = core::deadline_of(attempt.sent_at, attempt.ttl);
    if (env_.now() < valid_until) {
      return redis::Grant{
          .token = *attempt.tally.token(), .sent_at = attempt.sent_at, .valid_until = valid_until};
    }
    return Unexpected{AcquireError{Errc::timeout,
                                   "the grant took longer to arrive than the lease lasts",
                                   "use a longer TTL, or servers that answer faster"}};
  }
  AcquireError error = attempt.holder
                           ? AcquireError{Errc::busy, "somebody else holds the lock"}
                           : AcquireError{Errc::unavailable, "no majority of the nodes answered"};
  error.holder = attempt.holder;
  error.nodes = attempt.errors;
  return Unexpected{std::move(error)};
}

Task<void> RedlockEngine::ask_at(std::shared_ptr<RedlockEngine> self,
                                 std::shared_ptr<Replies> replies,
                                 std::size_t node) {
  redis::ScriptCall call = replies->call;
  auto reply = co_await self->nodes_[node]->eval(std::move(call), replies->answer_by);
  replies->answers[node] = std::move(reply);
  ++replies->arrived;
  replies->changed.ring();
}

Task<std::shared_ptr<RedlockEngine::Replies>> RedlockEngine::ask_all(redis::ScriptCall call,
                                                                     TimePoint answer_by) {
  const TimePoint end = std::min(answer_by, env_.now() + settings_.timeout);
  auto replies = std::make_shared<Replies>(env_, nodes_.size(), std::move(call), end);
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    env_.spawn(ask_at(shared_from_this(), replies, node));
  }
  while (replies->arrived < nodes_.size()) {
    co_await replies->changed.wait_until(TimePoint::max());
  }
  co_return replies;
}

Task<Result<std::vector<core::Fate>>> RedlockEngine::renew(std::vector<core::HeldLease> leases,
                                                           Millis ttl,
                                                           TimePoint answer_by) {
  const auto self = shared_from_this();
  redis::ScriptCall call{.script = &kExtendScript, .keys = {}, .args = {number(ttl)}};
  for (const core::HeldLease& lease : leases) {
    call.keys.push_back(settings_.prefix + lease.name.text());
    call.args.push_back(lease.owner.to_string());
  }
  const auto replies = co_await ask_all(std::move(call), answer_by);
  std::vector<std::size_t> renewed(leases.size(), 0);
  std::vector<std::size_t> gone(leases.size(), 0);
  for (const auto& answer : replies->answers) {
    const auto fates =
        *answer ? redis::read_renew(**answer, leases.size()) : Unexpected{answer->error()};
    if (!fates) continue;
    for (std::size_t i = 0; i < leases.size(); ++i) {
      ++((*fates)[i] == core::Fate::renewed ? renewed : gone)[i];
    }
  }
  std::vector<core::Fate> fates;
  for (std::size_t i = 0; i < leases.size(); ++i) {
    if (renewed[i] >= majority(nodes_.size())) {
      fates.push_back(core::Fate::renewed);
    } else if (nodes_.size() - gone[i] < majority(nodes_.size())) {
      fates.push_back(core::Fate::gone);
    } else {
      co_return Unexpected{Error{Errc::unknown_outcome, "no majority of the nodes answered"}};
    }
  }
  co_return fates;
}

Task<ReleaseOutcome> RedlockEngine::release(core::HeldLease lease, TimePoint answer_by) {
  const auto self = shared_from_this();
  auto call = remove(lease.name, lease.owner);
  const auto replies = co_await ask_all(std::move(call), answer_by);
  std::size_t removed = 0;
  std::size_t absent = 0;
  for (const auto& answer : replies->answers) {
    const auto removal = *answer ? redis::read_release(**answer) : Unexpected{answer->error()};
    if (removal) ++(*removal == redis::Removal::removed ? removed : absent);
  }
  if (removed + absent < nodes_.size()) abandon(lease.name, lease.owner);
  if (removed >= majority(nodes_.size())) co_return ReleaseOutcome::released;
  if (absent >= majority(nodes_.size())) co_return ReleaseOutcome::already_lost;
  co_return ReleaseOutcome::unknown;
}

void RedlockEngine::abandon(LockName name, Owner owner) {
  auto replies = std::make_shared<Replies>(
      env_, nodes_.size(), remove(name, owner), env_.now() + settings_.timeout);
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    env_.spawn(ask_at(shared_from_this(), replies, node));
  }
}

}  // namespace holdfast::redlock
