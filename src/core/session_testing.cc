#include "core/session_testing.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/holder_note.h"
#include "core/validity.h"

namespace holdfast::core::testing {

bool FakeServer::is_held(const std::string& name, TimePoint now) {
  const std::lock_guard guard{mutex};
  const auto lock = locks.find(name);
  return lock != locks.end() && now < lock->second.expires_at;
}

std::optional<Grant> FakeEngine::take(const LockRequest& request) {
  const TimePoint now = env_.now();
  const std::lock_guard guard{server_->mutex};
  const auto held = server_->locks.find(request.name.text());
  if (held != server_->locks.end() && now < held->second.expires_at) return std::nullopt;
  const Token token{++server_->tokens};
  server_->locks.insert_or_assign(
      request.name.text(), FakeServer::Lock{request.owner, token, now + request.ttl, request.note});
  return Grant{.token = token, .sent_at = now, .valid_until = deadline_of(now, request.ttl)};
}

AcquireError FakeEngine::in_the_way(Errc code, const LockName& name) {
  AcquireError error{code, "somebody has it"};
  const LockInfo info = describe(name.text());
  if (!info.holders.empty()) error.holder = info.holders.front();
  return error;
}

Task<Result<Grant, AcquireError>> FakeEngine::acquire(LockRequest request,
                                                      TimePoint wait_until,
                                                      std::stop_token stop) {
  if (const Errc refusal = server_->refusal; refusal != Errc{}) {
    co_return Unexpected{AcquireError{refusal, "as told"}};
  }
  const std::string name = request.name.text();
  const auto alarm = std::make_shared<Alarm>(env_);
  const auto ring = [&env = env_, weak = std::weak_ptr{alarm}] {
    env.post([weak] {
      if (const auto waiting = weak.lock()) waiting->ring();
    });
  };
  const std::stop_callback on_stop{stop, ring};
  const bool once = env_.now() >= wait_until;
  waiters_[name].push_back(alarm);
  ++server_->waiting;
  std::optional<Grant> grant;
  std::optional<AcquireError> error;
  Met met = Met::nobody;
  while (!grant && !error) {
    if (waiters_[name].front() == alarm) grant = take(request);
    if (grant) break;
    if (stop.stop_requested()) {
      error = AcquireError{Errc::cancelled};
    } else if (env_.now() >= wait_until) {
      error = in_the_way(once ? Errc::busy : Errc::timeout, request.name);
    } else {
      const TimePoint look_again = std::min(wait_until, env_.now() + Millis{20});
      co_await alarm->wait_until(look_again);
      met = Met::others;
    }
  }
  std::erase(waiters_[name], alarm);
  --server_->waiting;
  wake(name);
  if (error) co_return Unexpected{std::move(*error)};
  grant->met = met;
  co_return *grant;
}

void FakeEngine::wake(const std::string& name) {
  if (!waiters_[name].empty()) waiters_[name].front()->ring();
}

std::optional<TimePoint> FakeEngine::extend_now(const LockName& name, Owner owner, Millis ttl) {
  const std::lock_guard guard{server_->mutex};
  const auto held = server_->locks.find(name.text());
  const bool there = held != server_->locks.end() && held->second.owner == owner &&
                     env_.now() < held->second.expires_at;
  if (!there) return std::nullopt;
  held->second.expires_at = std::max(held->second.expires_at, env_.now() + ttl);
  return held->second.expires_at;
}

Task<Result<std::vector<Fate>>> FakeEngine::renew(std::vector<HeldLease> leases,
                                                  Millis ttl,
                                                  TimePoint answer_by) {
  if (server_->silent) {
    co_await env_.sleep_until(answer_by);
    co_return Unexpected{Error{Errc::unavailable, "silent"}};
  }
  ++server_->renewals;
  std::vector<Fate> fates;
  for (const HeldLease& lease : leases) {
    const bool renewed = extend_now(lease.name, lease.owner, ttl).has_value();
    const std::lock_guard guard{server_->mutex};
    const Fate gone = server_->broken.contains(lease.owner) ? Fate::broken : Fate::gone;
    fates.push_back(renewed ? Fate::renewed : gone);
  }
  co_return fates;
}

ReleaseOutcome FakeEngine::remove(const LockName& name, Owner owner) {
  {
    const std::lock_guard guard{server_->mutex};
    const auto held = server_->locks.find(name.text());
    if (held == server_->locks.end() || held->second.owner != owner) {
      return ReleaseOutcome::already_lost;
    }
    server_->locks.erase(held);
  }
  ++server_->releases;
  wake(name.text());
  return ReleaseOutcome::released;
}

Task<ReleaseOutcome> FakeEngine::release(HeldLease lease, TimePoint, TimePoint answer_by) {
  if (server_->silent) {
    co_await env_.sleep_until(answer_by);
    co_return ReleaseOutcome::unknown;
  }
  // A while on the way, so that what is not waited for is seen to be missing.
  co_await env_.sleep_for(Millis{2});
  co_return remove(lease.name, lease.owner);
}

void FakeEngine::abandon(LockName name, Owner owner, Millis) {
  if (!server_->silent) static_cast<void>(remove(name, owner));
}

LockInfo FakeEngine::describe(const std::string& name) {
  LockInfo info;
  info.name = name;
  const std::lock_guard guard{server_->mutex};
  const auto held = server_->locks.find(name);
  if (held == server_->locks.end() || env_.now() >= held->second.expires_at) return info;
  Contender holder;
  holder.owner_fp = held->second.owner.fingerprint();
  holder.token = held->second.token;
  core::describe(holder, decode_note(held->second.note));
  holder.ttl = std::chrono::duration_cast<Millis>(held->second.expires_at - env_.now());
  info.holders.push_back(std::move(holder));
  return info;
}

Task<Result<LockInfo>> FakeEngine::inspect(LockName name, TimePoint answer_by) {
  if (server_->silent) {
    co_await env_.sleep_until(answer_by);
    co_return Unexpected{Error{Errc::unavailable, "silent"}};
  }
  co_return describe(name.text());
}

Task<Result<std::vector<LockInfo>>> FakeEngine::list(std::string prefix, TimePoint answer_by) {
  if (server_->silent) {
    co_await env_.sleep_until(answer_by);
    co_return Unexpected{Error{Errc::unavailable, "silent"}};
  }
  std::vector<std::string> names;
  {
    const std::lock_guard guard{server_->mutex};
    for (const auto& [name, lock] : server_->locks) {
      if (name.starts_with(prefix)) names.push_back(name);
    }
  }
  std::vector<LockInfo> found;
  for (const std::string& name : names) {
    LockInfo info = describe(name);
    if (!info.holders.empty()) found.push_back(std::move(info));
  }
  co_return found;
}

Task<Result<BreakReport>> FakeEngine::break_lock(LockName name, std::string, TimePoint) {
  const LockInfo before = describe(name.text());
  if (before.holders.empty()) co_return Unexpected{Error{Errc::not_found, "nobody holds it"}};
  {
    const std::lock_guard guard{server_->mutex};
    server_->broken.insert(server_->locks.at(name.text()).owner);
    server_->locks.erase(name.text());
  }
  wake(name.text());
  BreakReport report{.holders = before.holders};
  co_return report;
}

Task<Result<Duration>> FakeEngine::extend(LockName name, Owner owner, Millis ttl, TimePoint) {
  const auto until = extend_now(name, owner, ttl);
  if (!until) co_return Unexpected{Error{Errc::lost, "it ended"}};
  co_return *until - env_.now() - drift_allowance(ttl);
}

Task<Result<ReleaseOutcome>> FakeEngine::release(LockName name, Owner owner, TimePoint) {
  co_return remove(name, owner);
}

std::shared_ptr<SessionBackend> start(std::unique_ptr<Env> env,
                                      const std::shared_ptr<FakeServer>& server,
                                      Millis timeout,
                                      StoreOpener open_store) {
  auto engine = std::make_shared<FakeEngine>(*env, server);
  SessionParts parts{
      .env = std::move(env), .engine = engine, .desk = engine, .open_store = std::move(open_store)};
  engine.reset();
  SessionSettings settings{.url = "fake://here",
                           .domain = "fake:1",
                           .can = kCan,
                           .timeout = timeout,
                           .look_every = Millis{5}};
  return SessionBackend::start(std::move(parts), std::move(settings));
}

Stall::Stall(Env& env) {
  const auto begun = std::make_shared<Answer<bool>>();
  env.post([begun, over = over_] {
    begun->set(true);
    over->take();
  });
  begun->take();
}

int in_fork(const std::function<int()>& child) {
  const pid_t pid = fork();
  if (pid == 0) _exit(child());
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace holdfast::core::testing
