#include "engines/local/local_backend.h"

#include "base/fork.h"
#include "base/percent.h"
#include "core/validity.h"
#include "engines/local/audit.h"
#include "engines/local/local_lease.h"
#include "engines/local/local_limiter.h"
#include "engines/local/local_store.h"
#include "engines/local/state_dir.h"
#include "engines/local/waiting.h"

namespace holdfast::local {

Result<std::shared_ptr<Backend>> open_backend(std::string directory,
                                              const StoreSettings& settings) {
  if (directory.empty()) {
    auto found = default_directory();
    if (!found) return Unexpected{found.error()};
    directory = std::move(*found);
  }
  auto engine = Engine::open(directory);
  if (!engine) return Unexpected{engine.error()};
  auto backend = std::make_shared<LocalBackend>(std::move(*engine), settings);
  backend->start();
  return std::shared_ptr<Backend>{std::move(backend)};
}

LocalBackend::LocalBackend(std::unique_ptr<Engine> engine, const StoreSettings& settings)
    : engine_{std::move(engine)},
      domain_{engine_->domain()},
      generation_{fork_generation()},
      settings_{settings} {}

void LocalBackend::start() {
  engine_->membership().start_chores([this] { return keep(); });
}

LocalBackend::~LocalBackend() {
  if (forked()) {
    // The child has neither the threads nor the mapping: there is nothing to tidy up, or to touch.
    static_cast<void>(engine_.release());
    dispatcher_->abandon();
    return;
  }
  engine_->membership().stop_chores();
  end_async();
}

bool LocalBackend::forked() const { return fork_generation() != generation_; }

Result<void> LocalBackend::usable() const {
  if (forked()) [[unlikely]] {
    return Unexpected{Error{Errc::shutting_down, "the process has forked since it connected"}};
  }
  if (deleted_.load(std::memory_order_relaxed)) [[unlikely]] {
    return Unexpected{Error{Errc::corrupt,
                            engine_->file().path() + " was deleted or replaced while in use",
                            "start the program anew: it then shares locks with newer processes"}};
  }
  return {};
}

std::shared_ptr<LocalLease> LocalBackend::make_lease(std::string_view name,
                                                     const AcquireOptions& options,
                                                     const Ticket& ticket,
                                                     Arrival arrival) {
  auto lease = std::make_shared<LocalLease>(shared_from_this(), name, options, ticket);
  lease->arrived(arrival);
  add(*lease);
  return lease;
}

AcquireResult LocalBackend::acquire(std::string_view name,
                                    const AcquireOptions& options,
                                    std::stop_token stop) {
  if (auto checked = usable(); !checked) return Unexpected{checked.error()};
  const TimePoint now = BootClock::now();
  auto ticket = engine_->enter(name, to_request(options, Waiting::Wake::thread), now);
  if (!ticket) return Unexpected{ticket.error()};
  if (engine_->take_if_first(*ticket)) [[likely]] {
    return std::shared_ptr<LeaseCore>{make_lease(name, options, *ticket, {now, now})};
  }
  Waiting waiting{
      *engine_, name, options, Waiting::Wake::thread, *ticket, patience(now, options.wait)};
  add(waiting);
  const std::stop_callback on_stop{stop, [&] { waiting.nudge(); }};
  Arrival arrival{now, now};
  Waiting::Progress progress = waiting.advance(now, stop);
  while (std::holds_alternative<std::monostate>(progress)) {
    waiting.sleep();
    arrival = {now, BootClock::now(), core::Met::others};
    progress = waiting.advance(arrival.granted_at, stop);
  }
  remove(waiting);
  if (auto* error = std::get_if<AcquireError>(&progress)) return Unexpected{std::move(*error)};
  return std::shared_ptr<LeaseCore>{make_lease(name, options, std::get<Ticket>(progress), arrival)};
}

Result<Duration> LocalBackend::renew(std::string_view name, const Owner& owner, Millis ttl) {
  if (auto checked = usable(); !checked) return Unexpected{checked.error()};
  const TimePoint now = BootClock::now();
  const auto deadline = engine_->renew_detached(name, owner, ttl, now);
  if (!deadline) return Unexpected{deadline.error()};
  return *deadline - core::drift_allowance(ttl) - now;
}

Result<ReleaseOutcome> LocalBackend::release(std::string_view name, const Owner& owner) {
  if (auto checked = usable(); !checked) return Unexpected{checked.error()};
  return engine_->release_detached(name, owner);
}

Result<LockInfo> LocalBackend::inspect(std::string_view name) {
  if (auto checked = usable(); !checked) return Unexpected{checked.error()};
  return engine_->inspect(name, BootClock::now());
}

Result<std::vector<LockInfo>> LocalBackend::list(std::string_view prefix) {
  if (auto checked = usable(); !checked) return Unexpected{checked.error()};
  return engine_->list(prefix, BootClock::now());
}

Result<BreakReport> LocalBackend::break_lock(std::string_view name, std::string_view why) {
  if (auto checked = usable(); !checked) return Unexpected{checked.error()};
  // On record first: a release that nobody can account for is worse than one that did not happen.
  const LockInfo before = engine_->inspect(name, BootClock::now());
  if (before.holders.empty() && before.delay <= Millis{0}) {
    return Unexpected{Error{Errc::not_found, "nobody holds \"" + std::string{name} + "\""}};
  }
  if (auto written = audit_break(engine_->file().directory(), before, why); !written) {
    return Unexpected{written.error()};
  }
  return BreakReport{.holders = engine_->break_holders(name, BootClock::now())};
}

Result<std::shared_ptr<StoreBackend>> LocalBackend::store() {
  if (auto checked = usable(); !checked) return Unexpected{checked.error()};
  const std::lock_guard lock{opening_store_};
  if (store_) return store_;
  auto opened = LocalStore::open(engine_->file().directory(), settings_);
  if (!opened) return opened;
  store_ = std::move(*opened);
  return store_;
}

Result<std::shared_ptr<LimiterBackend>> LocalBackend::limiter() {
  if (auto checked = usable(); !checked) return Unexpected{checked.error()};
  const std::lock_guard lock{opening_limiter_};
  if (limiter_) return limiter_;
  auto opened = LocalLimiter::open(engine_->file().directory());
  if (!opened) return opened;
  limiter_ = std::move(*opened);
  return limiter_;
}

Capabilities LocalBackend::capabilities() const {
  return {.shared = true,
          .permits = true,
          .fifo = true,
          .detached = true,
          .lock_delay = true,
          .watch = true,
          .store = true};
}

std::string LocalBackend::engine() const {
  std::string url = "local:" + percent_encode(engine_->file().directory());
  if (settings_.sync != Sync::full) url += "?sync=" + std::string{to_string(settings_.sync)};
  return url;
}

}  // namespace holdfast::local
