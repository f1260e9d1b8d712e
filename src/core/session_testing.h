// For the tests of SessionBackend and SessionLease: an engine in memory that answers as told.

#pragma once

#include <poll.h>

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/alarm.h"
#include "core/lease_engine.h"
#include "core/lock_desk.h"
#include "core/session_backend.h"

namespace holdfast::core::testing {

inline constexpr std::chrono::seconds kPatience{30};

/// Whether the condition became true in time. For conditions that nothing announces.
template <class Condition>
bool eventually(Condition condition) {
  const TimePoint limit = BootClock::now() + kPatience;
  while (!condition()) {
    if (BootClock::now() > limit) return false;
    poll(nullptr, 0, 1);
  }
  return true;
}

/// What outlives the engine: its locks, and how it is to answer. Thread safety: any thread.
struct FakeServer {
  struct Lock {
    Owner owner;
    Token token;
    TimePoint expires_at;
    std::string note;
  };

  /// Nothing is answered any more but by the end of the time for it.
  std::atomic<bool> silent{false};
  /// Errc{}: acquisitions wait their turn; else they are answered with this at once.
  std::atomic<Errc> refusal{};
  std::atomic<int> waiting{0};
  std::atomic<int> releases{0};
  std::atomic<int> renewals{0};
  /// The thread that destroyed the engine.
  std::atomic<std::thread::id> destroyed_by{};

  bool is_held(const std::string& name, TimePoint now);

  std::mutex mutex;
  std::map<std::string, Lock> locks;
  std::set<Owner> broken;
  std::uint64_t tokens{0};
};

/// Several calls may be under way. First come, first served.
class FakeEngine final : public LeaseEngine, public LockDesk {
 public:
  FakeEngine(Env& env, std::shared_ptr<FakeServer> server)
      : env_{env}, server_{std::move(server)} {}
  ~FakeEngine() override { server_->destroyed_by = std::this_thread::get_id(); }

  Task<Result<Grant, AcquireError>> acquire(LockRequest request,
                                            TimePoint wait_until,
                                            std::stop_token stop) override;
  Task<Result<std::vector<Fate>>> renew(std::vector<HeldLease> leases,
                                        Millis ttl,
                                        TimePoint answer_by) override;
  Task<ReleaseOutcome> release(HeldLease lease,
                               TimePoint valid_until,
                               TimePoint answer_by) override;
  void abandon(LockName name, Owner owner, Millis ttl) override;

  Task<Result<LockInfo>> inspect(LockName name, TimePoint answer_by) override;
  Task<Result<std::vector<LockInfo>>> list(std::string prefix, TimePoint answer_by) override;
  Task<Result<BreakReport>> break_lock(LockName name,
                                       std::string why,
                                       TimePoint answer_by) override;
  Task<Result<Duration>> extend(LockName name,
                                Owner owner,
                                Millis ttl,
                                TimePoint answer_by) override;
  Task<Result<ReleaseOutcome>> release(LockName name, Owner owner, TimePoint answer_by) override;

 private:
  using Waiters = std::deque<std::shared_ptr<Alarm>>;

  std::optional<Grant> take(const LockRequest& request);
  ReleaseOutcome remove(const LockName& name, Owner owner);
  std::optional<TimePoint> extend_now(const LockName& name, Owner owner, Millis ttl);
  AcquireError in_the_way(Errc code, const LockName& name);
  LockInfo describe(const std::string& name);
  void wake(const std::string& name);

  Env& env_;
  std::shared_ptr<FakeServer> server_;
  std::map<std::string, Waiters> waiters_;
};

inline constexpr Capabilities kCan{.fifo = true, .detached = true, .watch = true, .store = true};

/// A backend over a FakeEngine.
std::shared_ptr<SessionBackend> start(std::unique_ptr<Env> env,
                                      const std::shared_ptr<FakeServer>& server,
                                      Millis timeout = kPatience,
                                      StoreOpener open_store = {});

/// Holds up the Env's thread for as long as it lives.
class Stall {
 public:
  explicit Stall(Env& env);
  ~Stall() { over_->set(true); }
  Stall(const Stall&) = delete;
  Stall& operator=(const Stall&) = delete;

 private:
  std::shared_ptr<Answer<bool>> over_{std::make_shared<Answer<bool>>()};
};

/// Runs `child` in a forked process and returns what it returned, or -1 if it ended otherwise.
int in_fork(const std::function<int()>& child);

}  // namespace holdfast::core::testing
