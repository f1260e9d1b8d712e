// The local engine behind the public Client and Lease: waiting, keeping, telling.
//
// Thread safety: any thread. One background thread keeps the sessions; another, started when first
// needed, runs callbacks.

#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/dispatcher.h"
#include "core/backend.h"
#include "engines/local/engine.h"
#include "engines/local/store_schema.h"

namespace holdfast::local {

class LocalLease;
class Waiting;

/// Opens the engine in a directory; empty: the default one.
/// Errors as StateFile::open, and invalid_argument when there is no default.
Result<std::shared_ptr<Backend>> open_backend(std::string directory,
                                              const StoreSettings& settings = {});

class LocalBackend final : public Backend, public std::enable_shared_from_this<LocalBackend> {
 public:
  LocalBackend(std::unique_ptr<Engine> engine, const StoreSettings& settings);
  ~LocalBackend() override;

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
  /// Every change of a lock is told as it happens.
  void announce(std::string_view) override {}
  Result<BreakReport> break_lock(std::string_view name, std::string_view why) override;
  Result<std::shared_ptr<StoreBackend>> store() override;
  Result<std::shared_ptr<LimiterBackend>> limiter() override;
  Capabilities capabilities() const override;
  std::string engine() const override;
  std::string domain() const override { return domain_; }

  /// Begins to keep; called once, right after construction.
  void start();

  /// In a child forked since the backend was opened.
  bool forked() const;

  /// shutting_down after a fork; corrupt when the state file is not the one in use any more.
  Result<void> usable() const;

  Engine& protocol() { return *engine_; }
  Dispatcher& dispatcher() { return *dispatcher_; }

  // For leases: those the keeper looks after.
  void add(LocalLease& lease);
  void remove(LocalLease& lease);
  // For waiters: those the keeper checks on.
  void add(Waiting& waiting);
  void remove(Waiting& waiting);

 private:
  struct AsyncWait;

  Rest keep();
  void keep_sessions(TimePoint now, Rest& rest);
  void keep_session(SessionEntry& entry, TimePoint now, Rest& rest);
  void look_at_leases(TimePoint now, Rest& rest);
  void look_at_waiters(TimePoint now);
  void advance_async(TimePoint now, Rest& rest);
  /// On the dispatcher's thread.
  void tell(const std::shared_ptr<AsyncWait>& wait, AcquireResult result);
  void end_async();
  std::shared_ptr<LocalLease> make_lease(std::string_view name,
                                         const AcquireOptions& options,
                                         const Ticket& ticket,
                                         Arrival arrival);

  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Dispatcher> dispatcher_{std::make_unique<Dispatcher>()};
  std::string domain_;
  std::uint32_t generation_;
  std::atomic<bool> deleted_{false};
  std::mutex mutex_;
  LocalLease* leases_{nullptr};
  std::list<Waiting*> waiters_;
  std::list<std::shared_ptr<AsyncWait>> async_waits_;
  TimePoint next_tick_{};
  StoreSettings settings_;
  std::mutex opening_store_;
  std::shared_ptr<StoreBackend> store_;
  std::mutex opening_limiter_;
  std::shared_ptr<LimiterBackend> limiter_;
};

}  // namespace holdfast::local
