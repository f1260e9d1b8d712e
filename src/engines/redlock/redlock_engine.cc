#include "engines/redlock/redlock_engine.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/alarm.h"
#include "core/validity.h"
#include "engines/redis/redis_reply.h"
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
  Attempt(Env& env, LockName name_in, Owner owner_in, Millis ttl_in, std::size_t nodes)
      : name{std::move(name_in)},
        owner{owner_in},
        ttl{ttl_in},
        sent_at{env.now()},
        tally{nodes},
        failures(nodes),
        changed{env} {}

  LockName name;
  Owner owner;
  Millis ttl;
  TimePoint sent_at;
  TimePoint answer_by{};
  redis::SharedCall take;
  Tally tally;
  /// What stands in the way at each node, if anything: why it did not answer as hoped, or the
  /// answer that somebody else holds the lock there.
  std::vector<std::variant<std::monostate, Error, redis::Reply>> failures;
  Alarm changed;

  /// The node said that somebody else holds the lock, or was never reached.
  bool nothing_taken_at(std::size_t node) const {
    const auto* error = std::get_if<Error>(&failures[node]);
    const bool never_asked = error != nullptr && error->code == Errc::unavailable;
    return never_asked || std::holds_alternative<redis::Reply>(failures[node]);
  }
};

/// The answers of all nodes to one call.
struct RedlockEngine::Replies {
  Replies(Env& env, std::size_t nodes) : answers(nodes), complete{env} {}

  std::vector<std::optional<Result<redis::Reply>>> answers;
  std::size_t arrived{0};
  Alarm complete;
};

RedlockEngine::RedlockEngine(Env& env,
                             std::vector<std::shared_ptr<redis::RedisPort>> nodes,
                             Settings settings)
    : env_{env}, nodes_{std::move(nodes)}, settings_{std::move(settings)} {}

TimePoint RedlockEngine::request_end(TimePoint answer_by) const {
  return std::min(answer_by, env_.now() + settings_.timeout);
}

// Lock names have no control characters, so no lock can have the keys of a counter.
std::vector<std::string> RedlockEngine::keys_of(const LockName& name) const {
  return {settings_.prefix + name.text(),
          settings_.prefix + "\x01token:" + name.text(),
          settings_.prefix + "\x01token"};
}

redis::SharedCall RedlockEngine::take(const LockName& name, const Owner& owner, Millis ttl) const {
  return redis::share({.script = &kTakeScript,
                       .keys = keys_of(name),
                       .args = {owner.to_string(), number(ttl), number(settings_.counter_ttl)}});
}

redis::SharedCall RedlockEngine::confirm(const LockName& name,
                                         const Owner& owner,
                                         Token token) const {
  return redis::share({.script = &kConfirmScript,
                       .keys = keys_of(name),
                       .args = {owner.to_string(), number(token), number(settings_.counter_ttl)}});
}

redis::SharedCall RedlockEngine::remove(const LockName& name, const Owner& owner) const {
  return redis::share({.script = &kRemoveScript,
                       .keys = {settings_.prefix + name.text()},
                       .args = {owner.to_string()}});
}

void RedlockEngine::take_at(const std::shared_ptr<Attempt>& attempt, std::size_t node) {
  auto on_answer = [self = shared_from_this(), attempt, node](Result<redis::Reply> reply) {
    note_taken(*attempt, node, std::move(reply));
    self->confirm_laggards(attempt);
    attempt->changed.ring();
  };
  nodes_[node]->send(attempt->take, request_end(attempt->answer_by), std::move(on_answer));
}

void RedlockEngine::note_taken(Attempt& attempt, std::size_t node, Result<redis::Reply> reply) {
  if (reply && redis::is_busy(*reply)) {
    attempt.tally.refused(node);
    attempt.failures[node] = *std::move(reply);
    return;
  }
  const auto grant = reply ? redis::read_acquire(*reply) : Unexpected{AcquireError{reply.error()}};
  if (grant) {
    attempt.tally.granted(node, *grant);
  } else {
    attempt.tally.refused(node);
    attempt.failures[node] = static_cast<const Error&>(grant.error());
  }
}

void RedlockEngine::confirm_laggards(const std::shared_ptr<Attempt>& attempt) {
  if (attempt->tally.stage() != Tally::Stage::confirming) return;
  for (const std::size_t node : attempt->tally.take_laggards()) {
    confirm_at(attempt, node);
  }
}

void RedlockEngine::confirm_at(const std::shared_ptr<Attempt>& attempt, std::size_t node) {
  auto on_answer = [attempt, node](Result<redis::Reply> reply) {
    if (reply && is_one(*reply)) {
      attempt->tally.confirmed(node);
    } else {
      attempt->tally.not_confirmed(node);
      attempt->failures[node] =
          reply ? Error{Errc::busy, "the token was not confirmed"} : reply.error();
    }
    attempt->changed.ring();
  };
  nodes_[node]->send(confirm(attempt->name, attempt->owner, *attempt->tally.token()),
                     request_end(attempt->answer_by),
                     std::move(on_answer));
}

Task<Result<core::Grant, AcquireError>> RedlockEngine::acquire(core::LockRequest request,
                                                               TimePoint,
                                                               std::stop_token) {
  const auto self = shared_from_this();
  const auto attempt =
      std::make_shared<Attempt>(env_, request.name, request.owner, request.ttl, nodes_.size());
  // One for each phase.
  attempt->answer_by = env_.now() + settings_.timeout * 2;
  attempt->take = take(request.name, request.owner, request.ttl);
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    take_at(attempt, node);
  }
  while (attempt->tally.stage() == Tally::Stage::taking ||
         attempt->tally.stage() == Tally::Stage::confirming) {
    co_await attempt->changed.wait_until(TimePoint::max());
  }
  auto grant = conclude(*attempt);
  if (!grant) give_back(*attempt);
  co_return grant;
}

void RedlockEngine::give_back(const Attempt& attempt) {
  const redis::SharedCall call = remove(attempt.name, attempt.owner);
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    if (attempt.nothing_taken_at(node)) continue;
    remove_at({.call = call, .node = node, .until = env_.now() + attempt.ttl});
  }
}

Result<core::Grant, AcquireError> RedlockEngine::conclude(const Attempt& attempt) const {
  if (attempt.tally.stage() == Tally::Stage::held) {
    const TimePoint valid_until = core::deadline_of(attempt.sent_at, attempt.ttl);
    if (env_.now() < valid_until) {
      return core::Grant{
          .token = *attempt.tally.token(), .sent_at = attempt.sent_at, .valid_until = valid_until};
    }
    return Unexpected{AcquireError{Errc::timeout,
                                   "the grant took longer to arrive than the lease lasts",
                                   "use a longer TTL, or servers that answer faster"}};
  }
  return Unexpected{failure_of(attempt)};
}

AcquireError RedlockEngine::failure_of(const Attempt& attempt) {
  std::optional<AcquireError> busy;
  std::vector<NodeError> nodes;
  nodes.reserve(attempt.failures.size());
  std::size_t silent = 0;
  for (std::size_t node = 0; node < attempt.failures.size(); ++node) {
    if (const auto* reply = std::get_if<redis::Reply>(&attempt.failures[node])) {
      if (!busy) busy = redis::read_acquire(*reply).error();
      nodes.push_back({.node = std::to_string(node), .message = busy->message});
    } else if (const auto* error = std::get_if<Error>(&attempt.failures[node])) {
      if (error->code != Errc::busy) ++silent;
      nodes.push_back({.node = std::to_string(node), .message = error->message});
    }
  }
  const bool enough_nodes = attempt.failures.size() - silent >= majority(attempt.failures.size());
  AcquireError failure{Errc::unavailable, "no majority of the nodes answered"};
  if (enough_nodes) failure = {Errc::busy, "others took the lock on some nodes meanwhile"};
  if (enough_nodes && busy) failure = *std::move(busy);
  failure.nodes = std::move(nodes);
  return failure;
}

Task<std::shared_ptr<RedlockEngine::Replies>> RedlockEngine::ask_all(redis::SharedCall call,
                                                                     TimePoint answer_by) {
  const TimePoint by = request_end(answer_by);
  auto replies = std::make_shared<Replies>(env_, nodes_.size());
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    auto on_answer = [replies, node](Result<redis::Reply> reply) {
      replies->answers[node] = std::move(reply);
      if (++replies->arrived == replies->answers.size()) replies->complete.ring();
    };
    nodes_[node]->send(call, by, std::move(on_answer));
  }
  co_await replies->complete.wait_until(TimePoint::max());
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
  const redis::SharedCall shared = redis::share(std::move(call));
  const auto replies = co_await ask_all(shared, answer_by);
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
      fates.push_back(core::Fate::unknown);
    }
  }
  co_return fates;
}

Task<ReleaseOutcome> RedlockEngine::release(core::HeldLease lease,
                                            TimePoint valid_until,
                                            TimePoint answer_by) {
  const auto self = shared_from_this();
  const redis::SharedCall call = remove(lease.name, lease.owner);
  const auto replies = co_await ask_all(call, answer_by);
  std::size_t removed = 0;
  std::size_t absent = 0;
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    const auto& answer = replies->answers[node];
    const auto removal = *answer ? redis::read_release(**answer) : Unexpected{answer->error()};
    if (removal) {
      ++(*removal == redis::Removal::removed ? removed : absent);
    } else {
      remove_at({.call = call, .node = node, .until = valid_until});
    }
  }
  if (removed >= majority(nodes_.size())) co_return ReleaseOutcome::released;
  if (absent >= majority(nodes_.size())) co_return ReleaseOutcome::already_lost;
  co_return ReleaseOutcome::unknown;
}

void RedlockEngine::abandon(LockName name, Owner owner, Millis ttl) {
  const redis::SharedCall call = remove(name, owner);
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    remove_at({.call = call, .node = node, .until = env_.now() + ttl});
  }
}

void RedlockEngine::remove_at(const Removing& removing) {
  if (env_.now() >= removing.until) return;
  auto on_answer = [self = shared_from_this(), removing](Result<redis::Reply> reply) {
    if (reply && redis::read_release(*reply)) return;
    self->env_.spawn(remove_later(self, removing));
  };
  nodes_[removing.node]->send(removing.call, request_end(removing.until), std::move(on_answer));
}

Task<void> RedlockEngine::remove_later(std::shared_ptr<RedlockEngine> self, Removing removing) {
  const Duration delay = backoff_delay(self->settings_.retry, removing.attempt, self->env_.draw());
  co_await self->env_.sleep_for(delay);
  ++removing.attempt;
  self->remove_at(removing);
}

}  // namespace holdfast::redlock
