// An engine in memory for the tests of this folder: grants, queues, loses and breaks on command.

#pragma once

#include <atomic>
#include <list>
#include <map>
#include <mutex>

#include "core/backend.h"

namespace holdfast::testing {

class FakeBackend;

class FakeLease final : public LeaseCore {
 public:
  FakeLease(FakeBackend& backend, std::string name, const AcquireOptions& options, Token token);

  const std::string& name() const override { return name_; }
  Mode mode() const override { return mode_; }
  Token token() const override { return token_; }
  Owner owner() const override { return owner_; }
  Millis ttl() const override { return ttl_; }
  LeaseState state() const override { return state_; }
  LossReason loss_reason() const override { return reason_; }
  TimePoint valid_until() const override { return valid_until_; }
  std::stop_token stop_token() const override { return stop_.get_token(); }
  void on_event(std::function<void(const LeaseEvent&)> callback) override;
  Result<void> renew() override { return {}; }
  ReleaseOutcome release() override;
  void async_release(ReleaseCallback callback) override { callback(release()); }
  Result<void> detach() override;
  std::string sequencer() const override;
  void drop() noexcept override;

  /// Moves the deadline to now, as if the keeper had not noticed yet.
  void pass_deadline() { valid_until_ = BootClock::now(); }
  void lose(LossReason reason);
  std::string label() const { return label_; }
  std::string trace_id() const { return trace_id_; }

 private:
  FakeBackend& backend_;
  std::string name_;
  std::string label_;
  std::string trace_id_;
  Mode mode_;
  Token token_;
  Owner owner_;
  Millis ttl_;
  std::atomic<LeaseState> state_{LeaseState::held};
  std::atomic<LossReason> reason_{LossReason::none};
  std::atomic<TimePoint> valid_until_;
  std::stop_source stop_;
  std::function<void(const LeaseEvent&)> callback_;
  bool detached_{false};
};

class FakeBackend final : public Backend {
 public:
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
  void announce(std::string_view) override {}
  Result<BreakReport> break_lock(std::string_view name, std::string_view why) override;
  Result<std::shared_ptr<StoreBackend>> store() override {
    return Unexpected{Error{Errc::unsupported, "fake: has no store"}};
  }
  Result<std::shared_ptr<LimiterBackend>> limiter() override {
    return Unexpected{Error{Errc::unsupported, "fake: has no rate limits"}};
  }
  Capabilities capabilities() const override { return {.shared = true}; }
  std::string engine() const override { return "fake:"; }
  std::string domain() const override { return "fake:1"; }

  /// How many calls reached the engine.
  int calls() const { return calls_; }
  /// The lease granted last.
  std::shared_ptr<FakeLease> last() const;
  std::size_t waiting(std::string_view name) const;
  /// Answers every acquisition from now on with this error.
  void fail_with(Errc code) { failure_ = code; }

 private:
  friend class FakeLease;
  struct Waiter;
  using Waiters = std::list<std::shared_ptr<Waiter>>;
  struct Lock {
    std::vector<std::shared_ptr<FakeLease>> holders;
    Waiters waiters;
  };

  /// Takes the lease out and grants to those whose turn it is.
  void remove(const FakeLease& lease);
  void withdraw(const std::string& name, const std::shared_ptr<Waiter>& waiter, Errc code);
  bool admits(const Lock& lock, Mode mode) const;
  std::shared_ptr<FakeLease> grant(Lock& lock, std::string name, const AcquireOptions& options);
  LockInfo describe(const std::string& name, const Lock& lock) const;

  mutable std::mutex guard_;
  std::map<std::string, Lock, std::less<>> locks_;
  std::shared_ptr<FakeLease> last_;
  std::uint64_t tokens_{0};
  std::atomic<int> calls_{0};
  std::atomic<Errc> failure_{};
};

}  // namespace holdfast::testing
