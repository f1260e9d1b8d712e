#include "engines/redlock/redlock_engine.h"

#include <algorithm>
#include <utility>

#include "base/alarm.h"
#include "base/assert.h"
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

// How long the umpire has to answer before the others are asked as well.
constexpr Duration kUmpirePatience = std::chrono::milliseconds{20};

// How long an attempt that others are in the way of waits for nodes that say nothing.
constexpr Duration kLittle = std::chrono::milliseconds{5};

AcquireError too_long(Millis longest) {
  return {Errc::invalid_argument,
          "the TTL is longer than " + number(longest) + " ms, the longest of this set of nodes",
          "use a shorter TTL, or found the set anew with a longer one"};
}

}  // namespace

/// One attempt, shared by the tasks that talk to the nodes.
struct RedlockEngine::Attempt {
  Attempt(Env& env, const core::LockRequest& request, std::size_t nodes)
      : name{request.name},
        owner{request.owner},
        ttl{request.ttl},
        sent_at{env.now()},
        tally{nodes},
        obstacles(nodes),
        changed{env} {}

  LockName name;
  Owner owner;
  Millis ttl;
  TimePoint sent_at;
  TimePoint answer_by{};
  redis::SharedCall take;
  Tally tally;
  std::vector<Obstacle> obstacles;
  Alarm changed;

  /// What comes now comes too late.
  bool over{false};
  /// It has the lock.
  bool held{false};
  /// The umpire has given the lock to somebody else, and no other node was asked.
  bool turned_away{false};

  bool under_way() const {
    return tally.stage() == Tally::Stage::taking || tally.stage() == Tally::Stage::confirming;
  }

  /// Nodes that are down must not hold up those who are in each other's way: once a majority has
  /// answered, and not for this attempt alone, the others have as long again, and a little more.
  TimePoint give_up_at(TimePoint now) const {
    const auto answered = tally.answered();
    const auto in_the_way = std::ranges::count_if(obstacles, [](const Obstacle& obstacle) {
      return std::holds_alternative<redis::Reply>(obstacle);
    });
    if (in_the_way == 0 || answered < majority(obstacles.size())) return TimePoint::max();
    return now + std::max<Duration>(kLittle, now - sent_at);
  }

  /// With those of nodes that have not answered.
  std::vector<Obstacle> known_obstacles() const {
    std::vector<Obstacle> known = obstacles;
    for (const std::size_t node : tally.silent()) {
      known[node] = Error{Errc::busy, "no answer yet"};
    }
    return known;
  }

  /// The node said that somebody else holds the lock, or was never reached.
  bool nothing_taken_at(std::size_t node) const {
    const auto* error = std::get_if<Error>(&obstacles[node]);
    const bool never_asked = error != nullptr && error->code == Errc::unavailable;
    return never_asked || std::holds_alternative<redis::Reply>(obstacles[node]);
  }
};

RedlockEngine::RedlockEngine(Env& env,
                             std::vector<std::shared_ptr<redis::RedisPort>> nodes,
                             Settings settings)
    : env_{env},
      nodes_{std::move(nodes)},
      settings_{std::move(settings)},
      keys_{settings_.prefix, settings_.set},
      failing_(nodes_.size()),
      wake_ups_{std::make_shared<WakeUps>(env, nodes_)} {}

TimePoint RedlockEngine::request_end(TimePoint answer_by) const {
  return std::min(answer_by, env_.now() + settings_.timeout);
}

std::vector<std::string> RedlockEngine::keys_of(const LockName& name) const {
  return {keys_.lock(name), keys_.counter(name), keys_.high()};
}

redis::SharedCall RedlockEngine::confirm(const LockName& name,
                                         const Owner& owner,
                                         Token token) const {
  return redis::share({.script = &kConfirmScript,
                       .keys = keys_of(name),
                       .args = {owner.to_string(), number(token), number(settings_.counter_ttl)}});
}

void RedlockEngine::take_at(const std::shared_ptr<Attempt>& attempt, std::size_t node) {
  auto on_answer = [self = shared_from_this(), attempt, node](Result<redis::Reply> reply) {
    self->failing_[node] = !reply;
    note_taken(*attempt, node, std::move(reply));
    if (attempt->over) return self->settle_late(*attempt, node);
    self->confirm_laggards(attempt);
    attempt->changed.ring();
  };
  nodes_[node]->send(attempt->take, request_end(attempt->answer_by), std::move(on_answer));
}

void RedlockEngine::note_taken(Attempt& attempt, std::size_t node, Result<redis::Reply> reply) {
  if (reply && redis::is_busy(*reply)) {
    attempt.tally.refused(node);
    attempt.obstacles[node] = *std::move(reply);
    return;
  }
  if (reply && reply->kind == redis::Reply::Kind::error) {
    attempt.tally.refused(node);
    attempt.obstacles[node] = node_error(*reply);
    return;
  }
  const auto grant = reply ? redis::read_acquire(*reply) : Unexpected{AcquireError{reply.error()}};
  if (grant) {
    attempt.tally.granted(node, *grant);
  } else {
    attempt.tally.refused(node);
    attempt.obstacles[node] = static_cast<const Error&>(grant.error());
  }
}

// What was given back may have been overtaken by the request that took it.
void RedlockEngine::settle_late(const Attempt& attempt, std::size_t node) {
  if (attempt.held || !std::holds_alternative<std::monostate>(attempt.obstacles[node])) return;
  remove_at({.call = remove(attempt.name, attempt.owner, Told::nobody),
             .node = node,
             .until = env_.now() + attempt.ttl});
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
      attempt->obstacles[node] =
          reply ? Error{Errc::busy, "the token was not confirmed"} : reply.error();
    }
    attempt->changed.ring();
  };
  nodes_[node]->send(confirm(attempt->name, attempt->owner, *attempt->tally.token()),
                     request_end(attempt->answer_by),
                     std::move(on_answer));
}

// The first node that answers, so that all who come at once ask the same one.
std::size_t RedlockEngine::choose_umpire() const {
  return static_cast<std::size_t>(std::ranges::find(failing_, false) - failing_.begin());
}

/// Ends when it has the lock, or never can.
Task<std::shared_ptr<RedlockEngine::Attempt>> RedlockEngine::take_all(core::LockRequest request,
                                                                      Manner manner) {
  auto attempt = std::make_shared<Attempt>(env_, request, nodes_.size());
  // One for each phase.
  attempt->answer_by = env_.now() + settings_.timeout * 2;
  attempt->take = redis::share({.script = &kTakeScript,
                                .keys = keys_of(request.name),
                                .args = {request.owner.to_string(),
                                         number(request.ttl),
                                         number(settings_.counter_ttl),
                                         request.note}});
  const std::size_t umpire = manner == Manner::in_turn ? choose_umpire() : nodes_.size();
  if (umpire < nodes_.size()) {
    take_at(attempt, umpire);
    const TimePoint until = env_.now() + kUmpirePatience;
    static_cast<void>(co_await attempt->changed.wait_until(until));
    if (std::holds_alternative<redis::Reply>(attempt->obstacles[umpire])) {
      attempt->over = true;
      attempt->turned_away = true;
      co_return attempt;
    }
    failing_[umpire] = attempt->tally.answered() == 0;
  }
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    if (node != umpire) take_at(attempt, node);
  }
  while (attempt->under_way()) {
    const TimePoint until = attempt->give_up_at(env_.now());
    if (co_await attempt->changed.wait_until(until) == Wake::due) break;
  }
  attempt->over = true;
  co_return attempt;
}

Task<RedlockEngine::Tried> RedlockEngine::try_once(core::LockRequest request, Manner manner) {
  const Owner owner = request.owner;
  const auto attempt = co_await take_all(std::move(request), manner);
  Tried tried = conclude(*attempt);
  if (tried.grant) {
    tried.grant->owner = owner;
    attempt->held = true;
  } else {
    if (!attempt->turned_away) give_back(*attempt);
  }
  co_return tried;
}

RedlockEngine::Tried RedlockEngine::conclude(const Attempt& attempt) const {
  if (attempt.turned_away) {
    Refusal refusal = refusal_of(attempt.obstacles, settings_.names);
    // The others were not asked: whoever came first there gets them, most likely.
    refusal.cause = Refusal::Cause::held;
    refusal.ends_in = refusal.error.holder->ttl;
    return {.refusal = std::move(refusal)};
  }
  if (attempt.tally.stage() != Tally::Stage::held) {
    return {.refusal = refusal_of(attempt.known_obstacles(), settings_.names)};
  }
  const TimePoint valid_until = core::deadline_of(attempt.sent_at, attempt.ttl);
  if (env_.now() < valid_until) {
    return {.grant = core::Grant{.token = *attempt.tally.token(),
                                 .sent_at = attempt.sent_at,
                                 .valid_until = valid_until}};
  }
  Refusal late{.error = {Errc::timeout,
                         "the grant took longer to arrive than the lease lasts",
                         "use a longer TTL, or servers that answer faster"}};
  return {.refusal = std::move(late)};
}

Task<RedlockEngine::Granted> RedlockEngine::acquire(core::LockRequest request,
                                                    TimePoint wait_until,
                                                    std::stop_token stop) {
  HOLDFAST_ASSERT(request.claim.mode == Mode::exclusive && request.lock_delay == Millis{0});
  const auto self = shared_from_this();
  if (request.ttl > settings_.set.longest_ttl) {
    co_return Unexpected{too_long(settings_.set.longest_ttl)};
  }
  Tried tried = co_await try_once(request, Manner::at_once);
  if (tried.grant) co_return *std::move(tried.grant);
  if (stop.stop_requested()) co_return Unexpected{AcquireError{Errc::cancelled}};
  if (tried.refusal.error.code != Errc::busy || env_.now() >= wait_until) {
    co_return Unexpected{std::move(tried.refusal.error)};
  }
  const auto waiter = wake_ups_->enter(keys_.channel(request.name));
  Granted granted =
      co_await wait_and_try(request, waiter, std::move(tried.refusal), wait_until, stop);
  if (granted) granted->met = core::Met::others;
  co_await leave(request, granted ? Leaving::with_the_lock : Leaving::with_nothing);
  co_return granted;
}

void RedlockEngine::give_back(const Attempt& attempt) {
  const redis::SharedCall call = remove(attempt.name, attempt.owner, Told::nobody);
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    if (attempt.nothing_taken_at(node)) continue;
    remove_at({.call = call, .node = node, .until = env_.now() + attempt.ttl});
  }
}

}  // namespace holdfast::redlock
