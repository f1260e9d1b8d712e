// What the public Client and Lease ask of an engine.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/admission.h"
#include "holdfast/client.h"

namespace holdfast {

class LimiterBackend;

using AcquireResult = Result<std::shared_ptr<LeaseCore>, AcquireError>;
using AcquireCallback = std::function<void(AcquireResult)>;
using ReleaseCallback = std::function<void(ReleaseOutcome)>;

/// Whether a witness hears of a release before it begins.
enum class Ending : std::uint8_t { untold, told };

/// Hears what programs do with the leases of an observed client. Lives as long as the engine, by
/// Backend::keep(), and so longer than any lease.
class LeaseWitness {
 public:
  /// A release is about to begin, where Ending::told was asked for. What it gives, ended() gets.
  virtual TimePoint ending(const LeaseCore& lease) noexcept = 0;
  /// Empty: the program let go of the lease without a release.
  virtual void ended(LeaseCore& lease,
                     std::optional<ReleaseOutcome> outcome,
                     TimePoint ending_at) noexcept = 0;
  /// The program renewed it, or tried to.
  virtual void renewed(LeaseCore& lease, const Result<void>& answer) noexcept = 0;
  /// The engine renewed it by itself. By the engine's own lease, which has shown_name().
  virtual void kept(const LeaseCore& lease) noexcept = 0;
  virtual void changed(LeaseCore& lease, const LeaseEvent& event) noexcept = 0;

 protected:
  ~LeaseWitness() = default;
};

/// How a lease was come by.
struct Arrival {
  /// The same if nobody was in the way. Zero at engines that leave it to others to look at the
  /// clock.
  TimePoint asked_at{};
  TimePoint granted_at{};
  core::Met met{core::Met::nobody};
};

/// One lease, shared by the Lease object and the engine's keeper. Contracts as in lease.h.
class LeaseCore {
 public:
  virtual ~LeaseCore() = default;

  const Arrival& arrival() const { return arrival_; }
  void arrived(Arrival arrival) { arrival_ = arrival; }

  /// Empty: nobody observes it, or its end was told.
  LeaseWitness* witness() const { return witness_.load(std::memory_order_acquire); }
  /// Before anybody else has the lease. The program knows it by the last `shown` bytes of its name.
  virtual void witnessed_by(LeaseWitness& witness, Ending ending, std::size_t shown) {
    ending_ = ending;
    shown_ = static_cast<std::uint32_t>(shown);
    witness_.store(&witness, std::memory_order_release);
  }
  Ending ending() const { return ending_; }
  /// Precondition: it has, or had, a witness.
  std::string_view shown_name() const {
    const std::string& whole = name();
    return std::string_view{whole}.substr(whole.size() - shown_);
  }
  /// For the one who is to tell of its end. Whoever comes later finds none; of two that come at the
  /// very same moment both may tell, since an atomic exchange is too dear for it.
  LeaseWitness* take_witness() {
    LeaseWitness* const taken = witness();
    if (taken != nullptr) witness_.store(nullptr, std::memory_order_relaxed);
    return taken;
  }
  /// True once.
  bool loss_is_news() { return !loss_told_.exchange(true); }

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

 private:
  Arrival arrival_;
  std::atomic<LeaseWitness*> witness_{nullptr};
  Ending ending_{Ending::untold};
  std::uint32_t shown_{0};
  std::atomic<bool> loss_told_{false};
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
  /// Why who observes a lock has to look for changes instead of being told, and what to do about
  /// it. Empty: it is told.
  virtual std::optional<Error> why_unheard() const { return std::nullopt; }
  virtual Result<BreakReport> break_lock(std::string_view name, std::string_view why) = 0;
  /// The engine's store, opened when first asked for.
  virtual Result<std::shared_ptr<StoreBackend>> store() = 0;
  /// The engine's rate limiter, opened when first asked for. unsupported: it has none.
  virtual Result<std::shared_ptr<LimiterBackend>> limiter() = 0;
  virtual Capabilities capabilities() const = 0;
  virtual std::string engine() const = 0;
  virtual std::string domain() const = 0;

  /// Keeps something for as long as the engine, which its leases keep alive.
  virtual void keep(std::shared_ptr<void> companion) {
    const std::lock_guard lock{companions_mutex_};
    companions_.push_back(std::move(companion));
  }

 private:
  std::mutex companions_mutex_;
  std::vector<std::shared_ptr<void>> companions_;
};

}  // namespace holdfast
