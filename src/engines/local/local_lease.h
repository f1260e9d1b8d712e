// One lease at the local engine.
//
// Thread safety: any thread.

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/backend.h"
#include "engines/local/engine.h"

namespace holdfast::local {

class LocalBackend;

class LocalLease final : public LeaseCore, public std::enable_shared_from_this<LocalLease> {
 public:
  LocalLease(std::shared_ptr<LocalBackend> backend,
             std::string_view name,
             const AcquireOptions& options,
             const Ticket& ticket);
  ~LocalLease() override;

  const std::string& name() const override { return name_; }
  Mode mode() const override { return mode_; }
  Token token() const override { return ticket_.token; }
  Owner owner() const override { return ticket_.owner; }
  Millis ttl() const override { return ttl_; }
  LeaseState state() const override;
  LossReason loss_reason() const override { return reason_.load(); }
  TimePoint valid_until() const override;
  std::stop_token stop_token() const override;
  void on_event(std::function<void(const LeaseEvent&)> callback) override;
  Result<void> renew() override;
  ReleaseOutcome release() override;
  void async_release(ReleaseCallback callback) override { callback(release()); }
  Result<void> detach() override;
  std::string sequencer() const override;
  void drop() noexcept override;

  /// The keeper's look: says `lost` if it is, tells of jeopardy, and returns when to look again.
  TimePoint keep(TimePoint now);
  void lose(LossReason reason);
  /// The keeper has renewed its session.
  void renewed();
  SessionEntry* session_entry() const { return ticket_.session_entry; }

  // The backend's list of leases.
  LocalLease* previous{nullptr};
  LocalLease* next{nullptr};

 private:
  struct Listener;

  void leave_once();
  std::optional<LossReason> loss(TimePoint now) const;
  void tell(LeaseState state, LossReason reason);
  Listener& listener() const;

  std::shared_ptr<LocalBackend> backend_;
  std::string name_;
  Mode mode_;
  Millis ttl_;
  Ticket ticket_;
  mutable std::atomic<LeaseState> state_{LeaseState::held};
  mutable std::atomic<LossReason> reason_{LossReason::none};
  std::atomic<bool> detached_{false};
  std::atomic<bool> left_{false};
  // A lost lease leaves the queue by then, whatever its listener is doing.
  std::atomic<TimePoint> leave_by_{TimePoint{}};
  std::atomic<ReleaseOutcome> outcome_{ReleaseOutcome::already_lost};
  mutable std::atomic<Listener*> listener_{nullptr};
};

}  // namespace holdfast::local
