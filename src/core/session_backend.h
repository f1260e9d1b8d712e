// SessionBackend: an engine of coroutines behind the public Client, which is called by threads.
//
// The engine, its session and its desk live in the Env's tasks. Calls that block hand a task to it
// and wait, and may run other tasks meanwhile; what users handed in runs on a dispatcher's thread,
// so that no callback holds up the renewal of leases.
//
// Thread safety: any thread, but not within a task of the Env, where nothing may block.
// Lifetime: leases keep it alive. The last reference may go on any thread, the Env's included.
// Destroying it cancels what waits and waits, no longer than twice the timeout, until dropped
// leases are released. In a forked child everything answers shutting_down and nothing is touched.

#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/assert.h"
#include "base/dispatcher.h"
#include "base/env.h"
#include "core/backend.h"
#include "core/outbox.h"
#include "core/session_side.h"

namespace holdfast::core {

/// Opens an engine's store; called again when it failed.
using StoreOpener = std::function<Result<std::shared_ptr<StoreBackend>>()>;

/// What an engine brings. Nobody else keeps a share in engine and desk: they are let go on the
/// Env's thread.
struct SessionParts {
  std::unique_ptr<Env> env;
  std::shared_ptr<LeaseEngine> engine;
  std::shared_ptr<LockDesk> desk;
  /// Empty: it has none. Let go before the Env is.
  StoreOpener open_store{};
  /// Empty: it has none. As engine and desk.
  std::shared_ptr<LimitDesk> limits{};
};

/// How long an engine waits for the answer to one request before it asks again, where an operation
/// has `timeout`.
constexpr Millis attempt_timeout(Millis timeout) { return std::min(timeout, Millis{1'000}); }

struct SessionSettings {
  /// Complete and without credentials.
  std::string url;
  std::string domain;
  Capabilities can{};
  /// Why it cannot do more, for messages. Empty: there is nothing to say.
  std::string why_not_more{};
  /// As Backend's.
  std::optional<Error> why_unheard{};
  /// Of one operation.
  Millis timeout{5'000};
  /// How often watch() looks, and who observes a lock where nothing is heard.
  Millis look_every{200};
};

class SessionBackend final : public Backend, public std::enable_shared_from_this<SessionBackend> {
 public:
  /// Precondition: not on the Env's thread, which runs.
  static std::shared_ptr<SessionBackend> start(SessionParts parts, SessionSettings settings);
  ~SessionBackend() override;

  AcquireResult acquire(std::string_view name,
                        const AcquireOptions& options,
                        std::stop_token stop) override;
  void async_acquire(std::string_view name,
                     const AcquireOptions& options,
                     std::stop_token stop,
                     AcquireCallback callback) override;
  Result<Duration> renew(std::string_view name, const Owner& owner, Millis ttl) override;
  Result<ReleaseOutcome> release(std::string_view name, const Owner& owner) override;
  Result<LockInfo> inspect(std::string_view name) override;
  Result<std::vector<LockInfo>> list(std::string_view prefix) override;
  Result<void> watch(std::string_view prefix,
                     const std::function<void(const LockEvent&)>& callback,
                     std::stop_token stop) override;
  std::shared_ptr<LockObservation> observe(std::string_view name) override;
  void announce(std::string_view name) override;
  std::optional<Error> why_unheard() const override { return settings_.why_unheard; }
  Result<BreakReport> break_lock(std::string_view name, std::string_view why) override;
  Result<std::shared_ptr<StoreBackend>> store() override;
  Result<std::shared_ptr<LimiterBackend>> limiter() override;
  Capabilities capabilities() const override { return settings_.can; }
  std::string engine() const override { return settings_.url; }
  std::string domain() const override { return settings_.domain; }

  // For its leases and acquisitions.

  /// In a child forked since it was started.
  bool forked() const;
  bool on_its_thread() const { return env_->runs_here(); }
  Env& env() { return *env_; }
  Dispatcher& dispatcher() { return *dispatcher_; }
  const std::shared_ptr<Outbox>& outbox() const { return outbox_; }
  const SessionSide& side() const { return side_; }
  /// Requested when it is being destroyed.
  std::stop_token ending() const { return ending_.get_token(); }
  Millis timeout() const { return settings_.timeout; }
  Millis look_every() const { return settings_.look_every; }
  /// When an operation that begins now is to be answered.
  TimePoint answer_by() const { return env_->now() + settings_.timeout; }
  /// How long a thread waits for that answer: an Env that is held up is not waited for for ever.
  TimePoint patience(TimePoint answer_by) const { return answer_by + settings_.timeout; }

  /// Counted from the call.
  Result<Duration> extend(LockName name, Owner owner, Millis ttl, TimePoint answer_by);

  /// Makes the call on the Env's thread and waits. `silence`: what it is when there is no answer.
  template <class T>
  Result<T> ask_engine(SessionCall<Result<T>> call, TimePoint answer_by, Errc silence) {
    HOLDFAST_ASSERT(!on_its_thread());
    auto answer = ask<Result<T>>(*env_, side_, std::move(call), patience(answer_by));
    if (!answer) return Unexpected{Error{silence, "the engine's own thread is held up"}};
    return *std::move(answer);
  }

 private:
  SessionBackend(SessionParts parts, SessionSettings settings);
  static void dispose(SessionBackend* backend);

  Task<void> acquisition(std::string_view name,
                         const AcquireOptions& options,
                         std::stop_token stop,
                         std::function<void(AcquireResult)> deliver);
  Result<void> usable() const;
  Result<void> check(const AcquireOptions& options) const;
  void leave_to_parent();

  SessionSettings settings_;
  std::uint32_t generation_;
  std::unique_ptr<Dispatcher> dispatcher_{std::make_unique<Dispatcher>()};
  std::unique_ptr<Env> env_;
  std::shared_ptr<Outbox> outbox_;
  std::shared_ptr<Answer<UnderWay::Over>> over_{std::make_shared<Answer<UnderWay::Over>>()};
  SessionSide side_;
  std::stop_source ending_;
  std::mutex opening_store_;
  StoreOpener open_store_;
  std::shared_ptr<StoreBackend> store_;
};

}  // namespace holdfast::core
