// Claims an interval for one run of a job: docs/adr/0015-an-interval-is-a-detached-lease.md.
//
// `Locks` takes and gives back single locks: ClientLocks, or the simulator's.

#pragma once

#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/task.h"
#include "holdfast/interval.h"
#include "recipes/take_all.h"

namespace holdfast::recipes {

struct IntervalClaim {
  /// The lock that is held for the whole interval.
  std::string interval_lock;
  Millis interval;
  /// Those the job runs under, as OrderedTaking wants them.
  std::vector<std::string> names;
  /// Of those. `wait`: for the interval before to end.
  AcquireOptions options;
};

/// Of an interval that is this run's.
template <class Locks>
struct Claimed {
  typename Locks::Lease interval;
  std::vector<typename Locks::Lease> locks;
};

/// Thread safety: none. Lifetime: outlives run(), as do the locks and what the options view.
template <class Locks>
class IntervalTaking {
 public:
  using Lease = typename Locks::Lease;

  IntervalTaking(Locks& locks, IntervalClaim claim, std::stop_token stop)
      : locks_{locks}, claim_{std::move(claim)}, stop_{std::move(stop)} {}

  /// busy, timeout: the interval before is not over, with its holder, or one of the names is held.
  /// unsupported: the engine ends leases before so long an interval is over.
  Task<Result<Claimed<Locks>, IntervalError>> run() {
    auto interval = co_await take_interval();
    if (!interval) co_return Unexpected{not_due(std::move(interval).error())};
    // Nobody waits here: the interval would run on meanwhile, and two runs come closer than that.
    AcquireOptions once = claim_.options;
    once.wait = Millis{0};
    auto taken = co_await take_all(locks_, claim_.names, once, stop_);
    if (taken && locks_.stands(*interval)) {
      co_return Claimed<Locks>{.interval = *std::move(interval), .locks = *std::move(taken)};
    }
    std::vector<Lease> all;
    if (taken) all = *std::move(taken);
    all.push_back(*std::move(interval));
    co_await locks_.give_back(std::move(all));
    if (!taken) co_return Unexpected{IntervalError{std::move(taken).error()}};
    co_return Unexpected{
        IntervalError{Errc::timeout, "the interval was over before the run could begin"}};
  }

 private:
  Task<typename Locks::Taken> take_interval() {
    const AcquireOptions& options = claim_.options;
    const AcquireOptions detached{.ttl = claim_.interval,
                                  .wait = options.wait,
                                  .kind = LeaseKind::detached,
                                  .label = options.label,
                                  .trace_id = options.trace_id};
    std::vector<std::string> name{claim_.interval_lock};
    std::vector<Lease> held;
    auto answers = co_await locks_.take_each(std::move(name), detached, stop_, held);
    if (!answers.front()) co_return Unexpected{std::move(answers.front()).error()};
    const Millis granted = locks_.ttl(*answers.front());
    if (granted >= claim_.interval) co_return std::move(answers.front());
    held.push_back(*std::move(answers.front()));
    co_await locks_.give_back(std::move(held));
    co_return Unexpected{too_short(granted)};
  }

  static IntervalError not_due(AcquireError error) {
    IntervalError refusal{std::move(error)};
    const bool waiting = refusal.code == Errc::busy || refusal.code == Errc::timeout;
    if (waiting && refusal.holder) refusal.due_in = refusal.holder->ttl;
    return refusal;
  }

  AcquireError too_short(Millis granted) const {
    return {Errc::unsupported,
            "the engine ends leases after " + std::to_string(granted.count()) +
                " ms, before the interval of " + std::to_string(claim_.interval.count()) +
                " ms is over",
            "let the server grant longer leases, take a shorter interval, or use another engine"};
  }

  Locks& locks_;
  IntervalClaim claim_;
  std::stop_token stop_;
};

}  // namespace holdfast::recipes
