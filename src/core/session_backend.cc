#include "core/session_backend.h"

#include <utility>

#include "base/fork.h"
#include "core/lock_watch.h"
#include "core/session_acquisition.h"
#include "core/session_limiter.h"
#include "core/session_observation.h"

namespace holdfast::core {
std::shared_ptr<SessionBackend> SessionBackend::start(SessionParts parts,
                                                      SessionSettings settings) {
  return {new SessionBackend{std::move(parts), std::move(settings)}, dispose};
}

SessionBackend::SessionBackend(SessionParts parts, SessionSettings settings)
    : settings_{std::move(settings)},
      generation_{fork_generation()},
      env_{std::move(parts.env)},
      outbox_{std::make_shared<Outbox>(*env_, *dispatcher_)},
      side_{.session = std::make_shared<LeaseSession>(*env_, std::move(parts.engine)),
            .desk = std::move(parts.desk),
            .limits = std::move(parts.limits),
            .under_way = std::make_shared<UnderWay>(over_)},
      open_store_{std::move(parts.open_store)} {
  HOLDFAST_ASSERT(!on_its_thread());
}

void SessionBackend::dispose(SessionBackend* backend) {
  // The Env cannot be destroyed by its own thread.
  if (backend->forked() || !backend->on_its_thread()) {
    delete backend;
  } else {
    backend->dispatcher_->post([backend] { delete backend; });
  }
}

SessionBackend::~SessionBackend() {
  if (forked()) {
    leave_to_parent();
    return;
  }
  store_.reset();
  open_store_ = nullptr;
  ending_.request_stop();
  const auto let_go = std::make_shared<SessionSide>(std::move(side_));
  let_go->under_way.reset();
  static_cast<void>(over_->get(patience(answer_by())));
  const auto gone = std::make_shared<Answer<bool>>();
  env_->post([let_go, gone] {
    *let_go = {};
    gone->set(true);
  });
  gone->take();
  // Unwinds what did not end in time, whose callbacks the dispatcher still runs.
  env_.reset();
  outbox_->flush();
  dispatcher_.reset();
}

void SessionBackend::leave_to_parent() {
  // The child has neither the threads nor what they were in the middle of changing: there is
  // nothing to tidy up, or to touch.
  new std::unique_ptr<Env>{std::move(env_)};
  new SessionSide{std::move(side_)};
  new std::shared_ptr<Outbox>{std::move(outbox_)};
  new std::shared_ptr<StoreBackend>{std::move(store_)};
  new StoreOpener{std::move(open_store_)};
  dispatcher_->abandon();
}

bool SessionBackend::forked() const { return fork_generation() != generation_; }

Result<void> SessionBackend::usable() const {
  if (!forked()) return {};
  return Unexpected{Error{Errc::shutting_down, "the process has forked since it connected"}};
}

Result<void> SessionBackend::check(const AcquireOptions& options) const {
  const auto refuse = [&](const std::string& what, const char* remedy) {
    std::string message = settings_.url + " has no " + what;
    if (!settings_.why_not_more.empty()) message += ": " + settings_.why_not_more;
    return Unexpected{Error{Errc::unsupported, std::move(message), remedy}};
  };
  const Capabilities& can = settings_.can;
  if (options.mode == Mode::shared && !can.shared) {
    return refuse("shared locks", "take an exclusive lock, or use another engine");
  }
  if (options.mode == Mode::permit && !can.permits) {
    return refuse("permits", "take an exclusive lock, or use another engine");
  }
  if (options.lock_delay > Millis{0} && !can.lock_delay) {
    return refuse("lock-delay", "check tokens at the resource, or use another engine");
  }
  if (options.kind == LeaseKind::detached && !can.detached) {
    return refuse("detached leases", "take a session lease, or use another engine");
  }
  return {};
}

Task<void> SessionBackend::acquisition(std::string_view name,
                                       const AcquireOptions& options,
                                       std::stop_token stop,
                                       std::function<void(AcquireResult)> deliver) {
  auto wanted = std::make_shared<SessionAcquisition>(
      shared_from_this(), name, options, std::move(stop), std::move(deliver));
  return SessionAcquisition::run(std::move(wanted), side_);
}

AcquireResult SessionBackend::acquire(std::string_view name,
                                      const AcquireOptions& options,
                                      std::stop_token stop) {
  if (auto good = usable(); !good) return Unexpected{good.error()};
  if (auto good = check(options); !good) return Unexpected{good.error()};
  HOLDFAST_ASSERT(!on_its_thread());
  const auto answer = std::make_shared<Answer<AcquireResult>>();
  auto deliver = [answer](AcquireResult result) { answer->set(std::move(result)); };
  auto task = acquisition(name, options, std::move(stop), std::move(deliver));
  env_->spawn_and_wait(std::move(task), *answer, TimePoint::max());
  return answer->take();
}

void SessionBackend::async_acquire(std::string_view name,
                                   const AcquireOptions& options,
                                   std::stop_token stop,
                                   AcquireCallback callback) {
  if (auto good = usable(); !good) return callback(Unexpected{good.error()});
  if (auto good = check(options); !good) return callback(Unexpected{good.error()});
  auto deliver = [outbox = outbox_, callback = std::move(callback)](AcquireResult result) mutable {
    outbox->put([callback = std::move(callback), result = std::move(result)]() mutable {
      callback(std::move(result));
    });
  };
  env_->spawn(acquisition(name, options, std::move(stop), std::move(deliver)));
}

Result<Duration> SessionBackend::extend(LockName name,
                                        Owner owner,
                                        Millis ttl,
                                        TimePoint answer_by) {
  const SessionCall<Result<Duration>> call = [=](const SessionSide& side) {
    return side.desk->extend(name, owner, ttl, answer_by);
  };
  return ask_engine(call, answer_by, Errc::unknown_outcome);
}

Result<Duration> SessionBackend::renew(std::string_view name, const Owner& owner, Millis ttl) {
  if (auto good = usable(); !good) return Unexpected{good.error()};
  const TimePoint asked_at = env_->now();
  auto left = extend(LockName{std::string{name}}, owner, ttl, answer_by());
  if (left) *left -= env_->now() - asked_at;
  return left;
}

Result<ReleaseOutcome> SessionBackend::release(std::string_view name, const Owner& owner) {
  if (auto good = usable(); !good) return Unexpected{good.error()};
  const TimePoint by = answer_by();
  const SessionCall<Result<ReleaseOutcome>> call =
      [lock = LockName{std::string{name}}, owner, by](const SessionSide& side) {
        return side.desk->release(lock, owner, by);
      };
  return ask_engine(call, by, Errc::unknown_outcome);
}

Result<LockInfo> SessionBackend::inspect(std::string_view name) {
  if (auto good = usable(); !good) return Unexpected{good.error()};
  const TimePoint by = answer_by();
  const SessionCall<Result<LockInfo>> call = [lock = LockName{std::string{name}},
                                              by](const SessionSide& side) {
    return side.desk->inspect(lock, by);
  };
  return ask_engine(call, by, Errc::unavailable);
}

Result<std::vector<LockInfo>> SessionBackend::list(std::string_view prefix) {
  if (auto good = usable(); !good) return Unexpected{good.error()};
  const TimePoint by = answer_by();
  const SessionCall<Result<std::vector<LockInfo>>> call = [begin = std::string{prefix},
                                                           by](const SessionSide& side) {
    return side.desk->list(begin, by);
  };
  return ask_engine(call, by, Errc::unavailable);
}

Result<void> SessionBackend::watch(std::string_view prefix,
                                   const std::function<void(const LockEvent&)>& callback,
                                   std::stop_token stop) {
  if (!settings_.can.watch) {
    return Unexpected{Error{Errc::unsupported, settings_.url + " cannot be watched"}};
  }
  const auto look = [&] { return list(prefix); };
  return watch_locks(look, settings_.look_every, callback, std::move(stop));
}

std::shared_ptr<LockObservation> SessionBackend::observe(std::string_view name) {
  return std::make_shared<SessionObservation>(shared_from_this(), LockName{std::string{name}});
}

void SessionBackend::announce(std::string_view name) {
  if (forked()) return;
  env_->post([side = side_, lock = LockName{std::string{name}}] { side.desk->announce(lock); });
}

Result<BreakReport> SessionBackend::break_lock(std::string_view name, std::string_view why) {
  if (auto good = usable(); !good) return Unexpected{good.error()};
  const TimePoint by = answer_by();
  const SessionCall<Result<BreakReport>> call =
      [lock = LockName{std::string{name}}, reason = std::string{why}, by](const SessionSide& side) {
        return side.desk->break_lock(lock, reason, by);
      };
  return ask_engine(call, by, Errc::unknown_outcome);
}

Result<std::shared_ptr<StoreBackend>> SessionBackend::store() {
  if (auto good = usable(); !good) return Unexpected{good.error()};
  if (!settings_.can.store || !open_store_) {
    return Unexpected{Error{
        Errc::unsupported, settings_.url + " has no store", "use the store of another engine"}};
  }
  const std::lock_guard lock{opening_store_};
  if (!store_) {
    auto opened = open_store_();
    if (!opened) return opened;
    store_ = *std::move(opened);
  }
  // It lives on this Env, so whoever has it keeps that alive.
  struct Kept {
    std::shared_ptr<SessionBackend> backend;
    std::shared_ptr<StoreBackend> store;
  };
  const auto kept = std::make_shared<Kept>(Kept{shared_from_this(), store_});
  return std::shared_ptr<StoreBackend>{kept, kept->store.get()};
}

Result<std::shared_ptr<LimiterBackend>> SessionBackend::limiter() {
  if (auto good = usable(); !good) return Unexpected{good.error()};
  if (!side_.limits) {
    std::string message = settings_.url + " has no rate limits";
    if (!settings_.why_not_more.empty()) message += ": " + settings_.why_not_more;
    return Unexpected{Error{Errc::unsupported, std::move(message), "use another engine for them"}};
  }
  return std::shared_ptr<LimiterBackend>{std::make_shared<SessionLimiter>(shared_from_this())};
}

}  // namespace holdfast::core
