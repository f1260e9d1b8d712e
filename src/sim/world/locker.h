// Locker: one process that takes locks at a model server, and what it was told; for tests of
// engines.
//
// `Kit` names what it is made of: Bed (a scheduler, and start() for a process), Port (made of the
// process's Env and port), Engine and Desk (made of Env, port and settings), and Settings.
//
// Thread safety: none. The bed outlives it.

#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "core/lease_session.h"

namespace holdfast::sim {

template <class Kit>
class Locker {
 public:
  using Lease = core::LeaseSession::Lease;

  Locker(typename Kit::Bed& bed, typename Kit::Settings settings)
      : process{bed.start()},
        port{std::make_shared<typename Kit::Port>(process.env, process.port)},
        engine{std::make_shared<typename Kit::Engine>(process.env, port, settings)},
        desk{std::make_shared<typename Kit::Desk>(process.env, port, settings)},
        session{std::make_shared<core::LeaseSession>(process.env, engine)},
        bed_{bed} {}

  struct Wish {
    std::string name{"ledger"};
    Millis ttl{std::chrono::seconds{10}};
    Millis wait{0};
    core::Claim claim{};
    LeaseKind kind{LeaseKind::session};
  };
  /// What becomes of an acquisition.
  struct Outcome {
    Lease lease;
    std::optional<core::LeaseSession::Detached> detached;
    std::optional<AcquireError> error;
    std::vector<LeaseEvent> events;
    std::stop_source stop;
    bool done() const { return lease || detached || error; }
  };

  std::shared_ptr<Outcome> begin(Wish wish) {
    auto outcome = std::make_shared<Outcome>();
    const TimePoint wait_until = process.env.now() + wish.wait;
    process.env.spawn(take(session, std::move(wish), wait_until, outcome));
    return outcome;
  }

  /// Runs the world until it is answered.
  std::shared_ptr<Outcome> acquire(Wish wish) {
    auto outcome = begin(std::move(wish));
    const bool done = bed_.scheduler.run_until([&] { return outcome->done(); }, kHang);
    HOLDFAST_ASSERT(done);
    return outcome;
  }

  ReleaseOutcome release(const Lease& lease) {
    return wait_for(session->release(lease, process.env.now() + std::chrono::seconds{10}));
  }

  LeaseState state(const Lease& lease) const { return lease->state(process.env.now()); }
  LossReason reason(const Lease& lease) const { return lease->loss_reason(process.env.now()); }

  template <class T>
  T wait_for(Task<T> task) {
    auto value = std::make_shared<std::optional<T>>();
    process.env.spawn(put(std::move(task), value));
    const bool done = bed_.scheduler.run_until([&] { return value->has_value(); }, kHang);
    HOLDFAST_ASSERT(done);
    return **std::move(value);
  }
  TimePoint soon() const { return process.env.now() + std::chrono::seconds{2}; }

  typename Kit::Bed::Process& process;
  std::shared_ptr<typename Kit::Port> port;
  std::shared_ptr<typename Kit::Engine> engine;
  std::shared_ptr<typename Kit::Desk> desk;
  std::shared_ptr<core::LeaseSession> session;

 private:
  static constexpr Duration kHang = std::chrono::minutes{5};

  template <class T>
  static Task<void> put(Task<T> task, std::shared_ptr<std::optional<T>> to) {
    T value = co_await std::move(task);
    *to = std::move(value);
  }

  static Task<void> take(std::shared_ptr<core::LeaseSession> session,
                         Wish wish,
                         TimePoint wait_until,
                         std::shared_ptr<Outcome> outcome) {
    core::LeaseSession::Wanted wanted{
        .name = LockName{wish.name}, .ttl = wish.ttl, .claim = wish.claim};
    const std::stop_token stop = outcome->stop.get_token();
    if (wish.kind == LeaseKind::detached) {
      auto taken = co_await session->acquire_detached(std::move(wanted), wait_until, stop);
      if (taken) outcome->detached = *std::move(taken);
      if (!taken) outcome->error = std::move(taken).error();
      co_return;
    }
    core::LeaseSession::Listener listener = [weak =
                                                 std::weak_ptr{outcome}](const LeaseEvent& event) {
      if (const auto told = weak.lock()) told->events.push_back(event);
    };
    auto taken =
        co_await session->acquire(std::move(wanted), wait_until, stop, std::move(listener));
    if (taken) outcome->lease = *std::move(taken);
    if (!taken) outcome->error = std::move(taken).error();
  }

  typename Kit::Bed& bed_;
};

}  // namespace holdfast::sim
