// QueuedEngine: what is common to engines whose server keeps a queue of those who wait.
//
// Operations are idempotent per owner, so that one whose answer was lost is settled by asking
// again. Who waits hears of its turn from the server; how, and how its place is kept, is the
// engine's.
//
// Thread safety: as Env. Lifetime: the Env outlives the engine; tasks under way keep it alive.

#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "base/alarm.h"
#include "base/backoff.h"
#include "core/lease_engine.h"

namespace holdfast::core {

/// Where somebody who waits stands.
enum class Standing : std::uint8_t { none, first };

/// An answer to one who asks for a lock.
struct Asked {
  std::optional<Token> token{};
  /// Without a token: who has it, unless several have.
  std::optional<Contender> holder{};
  Standing standing{Standing::none};
  /// In how long that may change without a word. Zero or less: nobody knows.
  Millis change{0};
};

/// One who asks for a lock, and what the server last said of it.
struct Waiter {
  Waiter(Env& env, LockRequest request_in)
      : request{std::move(request_in)}, granted_by{env.now()}, changed{env} {}

  LockRequest request;
  std::optional<Token> token{};
  /// With a token: the request that got it, and from where the TTL counts.
  Confirmation granted_by;
  /// The server has answered, and this owner may stand in line there.
  bool answered{false};
  /// Who is in the way, where that is one.
  std::optional<Contender> holder{};
  /// others: the server has said that it must wait.
  Met met{Met::nobody};
  /// When to ask again although nobody called: the lock may have come free without a word.
  TimePoint ask_at{TimePoint::max()};
  Alarm changed;
  /// Does not wait any more.
  bool left{false};

  /// It has the lock. Without effect when it has it already.
  void grant(Token granted, Confirmation by) {
    if (token) return;
    token = granted;
    granted_by = by;
  }
};

enum class Removal : std::uint8_t { removed, was_absent };

class QueuedEngine : public LeaseEngine, public std::enable_shared_from_this<QueuedEngine> {
 public:
  struct Patience {
    /// How long one request waits for its answer.
    Millis timeout{1000};
    /// How long an unanswered request is repeated, in all.
    Millis in_all{5000};
    BackoffPolicy retry{.first = Millis{20}, .max = Millis{500}};
  };

  /// Waits in the server's queue. An unanswered request is repeated under the same owner; each gets
  /// the same token.
  Task<Result<Grant, AcquireError>> acquire(LockRequest request,
                                            TimePoint wait_until,
                                            std::stop_token stop) override;

  /// The first who waits has the lock at once.
  Task<ReleaseOutcome> release(HeldLease lease,
                               TimePoint valid_until,
                               TimePoint answer_by) override;

  /// Releases a lease by its owner alone. Of one that was not there when an unanswered request had
  /// been sent before, nobody can tell: unknown.
  Task<ReleaseOutcome> release(LockName name, Owner owner, TimePoint answer_by);

  void abandon(LockName name, Owner owner, Millis ttl) override;

 protected:
  QueuedEngine(Env& env, Patience patience) : env_{env}, patience_{patience} {}

  /// A place in a queue, kept for as long as this lives.
  class Place {
   public:
    virtual ~Place() = default;
  };
  /// One that is entered into the engine's own record of those who wait, and leaves it at its end.
  template <class Waiting>
  class PlaceIn final : public Place {
   public:
    PlaceIn(std::shared_ptr<Waiting> waiting, std::shared_ptr<Waiter> waiter)
        : waiting_{std::move(waiting)}, waiter_{std::move(waiter)} {
      waiting_->enter(waiter_);
    }
    ~PlaceIn() override { waiting_->leave(*waiter_); }
    PlaceIn(const PlaceIn&) = delete;
    PlaceIn& operator=(const PlaceIn&) = delete;

   private:
    std::shared_ptr<Waiting> waiting_;
    std::shared_ptr<Waiter> waiter_;
  };
  enum class Waits : std::uint8_t { no, yes };

  /// Whether the server can have a lock of that name.
  virtual Result<void> check(const LockName&) const { return {}; }
  /// From now on calls from the server reach the one who waits.
  virtual std::unique_ptr<Place> enter(std::shared_ptr<Waiter> waiter) = 0;
  /// Asks the server for the lock and takes in what it says. Failures as acquire() has them.
  virtual Task<Result<void>> ask_once(std::shared_ptr<Waiter> waiter,
                                      Waits waits,
                                      TimePoint answer_by) = 0;
  /// Ends the owner's lease and its place. The token, where it is known which lease is meant.
  virtual Task<Result<Removal>> remove(LockName name,
                                       Owner owner,
                                       std::optional<Token> token,
                                       TimePoint answer_by) = 0;
  /// A lease begins.
  virtual void granted_to(const LockRequest&) {}

  TimePoint attempt_end(TimePoint answer_by) const;

  Env& env_;
  const Patience patience_;

 private:
  using Granted = Result<Grant, AcquireError>;

  Task<Result<void>> ask(std::shared_ptr<Waiter> waiter, Waits waits, std::stop_token stop);
  Task<Granted> give_up(std::shared_ptr<Waiter> waiter, Errc why, TimePoint answer_by);
  static Task<void> wait_for_call(std::shared_ptr<Waiter> waiter,
                                  TimePoint wait_until,
                                  std::stop_token stop);
  Granted granted(const Waiter& waiter);
  Granted refused(const Waiter& waiter, Error error);

  Task<ReleaseOutcome> release_once(LockName name,
                                    Owner owner,
                                    std::optional<Token> token,
                                    TimePoint valid_until,
                                    TimePoint answer_by);
  static Task<void> release_until(std::shared_ptr<QueuedEngine> self,
                                  LockName name,
                                  Owner owner,
                                  TimePoint answer_by);
};

}  // namespace holdfast::core
