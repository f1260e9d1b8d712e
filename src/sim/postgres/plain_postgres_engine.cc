#include "sim/postgres/plain_postgres_engine.h"

#include <algorithm>

#include "core/validity.h"
#include "sim/postgres/plain_statements.h"

namespace holdfast::sim {
namespace {

using namespace postgres;
using Granted = Result<core::Grant, AcquireError>;

std::vector<Value> words_of(const LockName& name, const Owner& owner) {
  return {std::string{name.text()}, owner.to_string()};
}

std::vector<Value> words_of(const LockName& name, const Owner& owner, Millis ttl) {
  std::vector<Value> words = words_of(name, owner);
  words.emplace_back(std::to_string(ttl.count()));
  return words;
}

}  // namespace

Task<Result<bool>> PlainPostgresEngine::ask(const Statement& statement,
                                            std::vector<Value> args,
                                            TimePoint until) {
  const SharedCall call = share({.statement = &statement, .args = std::move(args)});
  const TimePoint answer_by = std::min(until, env_.now() + settings_.timeout);
  const Result<Answer> answer = co_await port_->answered(call, answer_by);
  if (!answer) co_return Unexpected{answer.error()};
  const auto* rows = std::get_if<Rows>(&*answer);
  if (rows == nullptr) co_return Unexpected{Error{Errc::internal, "the server refused"}};
  co_return !rows->empty();
}

Task<Granted> PlainPostgresEngine::acquire(core::LockRequest request, TimePoint, std::stop_token) {
  const auto self = shared_from_this();
  const TimePoint give_up_at = env_.now() + settings_.patience;
  Error error{Errc::unavailable, "no answer"};
  while (env_.now() < give_up_at) {
    const TimePoint sent_at = env_.now();
    std::vector<Value> words = words_of(request.name, request.owner, request.ttl);
    const Result<bool> taken = co_await ask(kPlainTakeStatement, std::move(words), give_up_at);
    const TimePoint deadline = core::deadline_of(sent_at, request.ttl);
    if (taken && *taken && env_.now() < deadline) {
      co_return core::Grant{.sent_at = sent_at, .valid_until = deadline};
    }
    if (taken && !*taken) {
      co_return Unexpected{AcquireError{Errc::busy, "somebody else has the lock"}};
    }
    if (!taken) error = taken.error();
    const TimePoint again = std::min(give_up_at, env_.now() + settings_.timeout / 4);
    co_await env_.sleep_until(again);
  }
  abandon(request.name, request.owner, request.ttl);
  co_return Unexpected{AcquireError{error.code, error.message}};
}

Task<Result<std::vector<core::Fate>>> PlainPostgresEngine::renew(
    std::vector<core::HeldLease> leases, Millis ttl, TimePoint answer_by) {
  const auto self = shared_from_this();
  std::vector<core::Fate> fates;
  for (const core::HeldLease& lease : leases) {
    std::vector<Value> words = words_of(lease.name, lease.owner, ttl);
    const Result<bool> had = co_await ask(kPlainExtendStatement, std::move(words), answer_by);
    fates.push_back(!had ? core::Fate::unknown : *had ? core::Fate::renewed : core::Fate::gone);
  }
  co_return fates;
}

Task<ReleaseOutcome> PlainPostgresEngine::release(core::HeldLease lease,
                                                  TimePoint,
                                                  TimePoint answer_by) {
  const auto self = shared_from_this();
  bool tried = false;
  while (env_.now() < answer_by) {
    std::vector<Value> words = words_of(lease.name, lease.owner);
    const Result<bool> had = co_await ask(kPlainReleaseStatement, std::move(words), answer_by);
    if (had) {
      co_return *had || tried ? ReleaseOutcome::released : ReleaseOutcome::already_lost;
    }
    tried = tried || had.error().code == Errc::unknown_outcome;
    const TimePoint again = std::min(answer_by, env_.now() + settings_.timeout / 4);
    co_await env_.sleep_until(again);
  }
  co_return ReleaseOutcome::unknown;
}

Task<void> PlainPostgresEngine::give_back(LockName name, Owner owner, TimePoint until) {
  const auto self = shared_from_this();
  while (env_.now() < until) {
    std::vector<Value> words = words_of(name, owner);
    const Result<bool> had = co_await ask(kPlainReleaseStatement, std::move(words), until);
    if (had) co_return;
    co_await env_.sleep_for(settings_.timeout / 4);
  }
}

void PlainPostgresEngine::abandon(LockName name, Owner owner, Millis ttl) {
  env_.spawn(give_back(std::move(name), owner, env_.now() + ttl));
}

}  // namespace holdfast::sim
