// What the public Client and Lease ask of an engine.

#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/client.h"

namespace holdfast {

class LimiterBackend;

using AcquireResult = Result<std::shared_ptr<LeaseCore>, AcquireError>;
using AcquireCallback = std::function<void(AcquireResult)>;
using ReleaseCallback = std::function<void(ReleaseOutcome)>;

/// One lease, shared by the Lease object and the engine's keeper. Contracts as in lease.h.
class LeaseCore {
 public:
  virtual ~LeaseCore() = default;

  virtual const std::string& name() const = 0;
  virtual Mode mode() const = 0;
  virtual Token token() const = 0;
  virtual Owner owner() const = 0;
  virtual Millis ttl() const = 0;
  virtual LeaseState state() const = 0;
  virtual LossReason loss_reason() const = 0;
  virtual TimePoint valid_until() const = 0;
  virtual std::stop_token stop_token() const = 0;
  virtual void on_event(std::function<void(const LeaseEvent&)> callback) = 0;
  virtual Result<void> renew() = 0;
  virtual ReleaseOutcome release() = 0;
  /// Never blocks. The callback runs once, on a thread of the engine's or before this returns, and
  /// must not block.
  virtual void async_release(ReleaseCallback callback) = 0;
  virtual Result<void> detach() = 0;
  virtual std::string sequencer() const = 0;
  /// The Lease object is gone: release unless detached or already over. Waits as release() does.
  virtual void drop() noexcept = 0;
};

/// One lock, observed. Thread safety: any thread, one next() at a time. Lifetime: keeps the engine
/// alive; next() is answered even if this goes.
class LockObservation {
 public:
  virtual ~LockObservation() = default;

  /// Never blocks. The callback gets the lock as it is: the first time at once, later when others
  /// hold it than it was told last. It runs once, on a thread of the engine's, and must not block.
  /// cancelled: `stop` was requested. Otherwise as Client::inspect; it may be called again then.
  virtual void next(std::stop_token stop, std::function<void(Result<LockInfo>)> callback) = 0;
};

/// One engine. Names and options reach it checked (core/limits.h). Contracts as in client.h.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual AcquireResult acquire(std::string_view name,
                                const AcquireOptions& options,
                                std::stop_token stop) = 0;
  /// Never blocks. The callback runs once, on a thread of the engine's or before this returns, and
  /// must not block.
  virtual void async_acquire(std::string_view name,
                             const AcquireOptions& options,
                             std::stop_token stop,
                             AcquireCallback callback) = 0;
  virtual Result<Duration> renew(std::string_view name, const Owner& owner, Millis ttl) = 0;
  virtual Result<ReleaseOutcome> release(std::string_view name, const Owner& owner) = 0;
  virtual Result<LockInfo> inspect(std::string_view name) = 0;
  virtual Result<std::vector<LockInfo>> list(std::string_view prefix) = 0;
  virtual Result<void> watch(std::string_view prefix,
                             const std::function<void(const LockEvent&)>& callback,
                             std::stop_token stop) = 0;
  virtual std::shared_ptr<LockObservation> observe(std::string_view name) = 0;
  /// Who holds the lock has changed: tells those who observe it, at engines whose servers do not do
  /// that by themselves. Never blocks, and promises nothing.
  virtual void announce(std::string_view name) = 0;
  virtual Result<BreakReport> break_lock(std::string_view name, std::string_view why) = 0;
  /// The engine's store, opened when first asked for.
  virtual Result<std::shared_ptr<StoreBackend>> store() = 0;
  /// The engine's rate limiter, opened when first asked for. unsupported: it has none.
  virtual Result<std::shared_ptr<LimiterBackend>> limiter() = 0;
  virtual Capabilities capabilities() const = 0;
  virtual std::string engine() const = 0;
  virtual std::string domain() const = 0;
};

}  // namespace holdfast
