// Claims an interval for one run of a job: docs/adr/0015-an-interval-is-a-detached-lease.md.
//
// `Locks` takes and gives back single locks: ClientLocks, or the simulator's.

#pragma once

#include <algorithm>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/task.h"
#include "holdfast/interval.h"
#include "recipes/patience.h"
#include "recipes/take_all.h"

namespace holdfast::recipes {

struct IntervalClaim {
  /// The lock that is held for the whole interval.
  std::string interval_lock;
  Millis interval;
  /// Those the job runs under, as OrderedTaking wants them.
  std::vector<std::string> names;
  /// Of those. `wait`: for the interval before to end, and for whoever holds one of the names.
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
  using Begun = Result<Claimed<Locks>, IntervalError>;

  IntervalTaking(Locks& locks, IntervalClaim claim, std::stop_token stop)
      : locks_{locks},
        claim_{std::move(claim)},
        stop_{std::move(stop)},
        patience_{locks.now(), claim_.options.wait} {}

  /// busy, timeout: the interval before is not over, with its holder, or one of the names is held.
  /// unsupported: the engine ends leases before so long an interval is over.
  Task<Begun> run() {
    for (;;) {
      auto in_time = co_await wait_for_interval();
      if (in_time) co_return *std::move(in_time);
      auto after_others = co_await wait_for_names();
      if (after_others) co_return *std::move(after_others);
    }
  }

 private:
  // Nobody waits for the names with the interval in hand: it would run on meanwhile, and two runs
  // come closer than that. Empty: the names are to be waited for.
  Task<std::optional<Begun>> wait_for_interval() {
    std::vector<Lease> none;
    auto interval = co_await take_interval(left(), none);
    if (!interval) co_return Begun{Unexpected{not_due(std::move(interval).error())}};
    auto names = co_await take_names(Millis{0});
    if (names && locks_.stands(*interval)) {
      co_return Begun{Claimed<Locks>{*std::move(interval), *std::move(names)}};
    }
    std::vector<Lease> all = taken_of(names, interval);
    co_await locks_.give_back(std::move(all));
    if (names) co_return Begun{Unexpected{over_too_soon()}};
    if (may_wait(names.error())) co_return std::nullopt;
    co_return Begun{Unexpected{in_the_end(std::move(names).error())}};
  }

  // Nor for the interval with the names in hand, which others may use meanwhile. Empty: the
  // interval is to be waited for.
  Task<std::optional<Begun>> wait_for_names() {
    auto names = co_await take_names(left());
    if (!names) co_return Begun{Unexpected{in_the_end(std::move(names).error())}};
    auto interval = co_await take_interval(Millis{0}, *names);
    const auto stands = [this](const Lease& lease) { return locks_.stands(lease); };
    if (interval && std::ranges::all_of(*names, stands)) {
      co_return Begun{Claimed<Locks>{*std::move(interval), *std::move(names)}};
    }
    std::vector<Lease> all = taken_of(names, interval);
    co_await locks_.give_back(std::move(all));
    if (interval && left() == Millis{0}) co_return Begun{Unexpected{over_too_soon()}};
    if (interval || may_wait(interval.error())) co_return std::nullopt;
    co_return Begun{Unexpected{not_due(std::move(interval).error())}};
  }

  Task<TakenAll<Locks>> take_names(Millis wait) {
    AcquireOptions options = claim_.options;
    options.wait = wait;
    return take_all(locks_, claim_.names, options, stop_);
  }

  Task<typename Locks::Taken> take_interval(Millis wait, std::vector<Lease>& names) {
    const AcquireOptions& options = claim_.options;
    const AcquireOptions detached{.ttl = claim_.interval,
                                  .wait = wait,
                                  .kind = LeaseKind::detached,
                                  .label = options.label,
                                  .trace_id = options.trace_id};
    std::vector<std::string> name{claim_.interval_lock};
    auto answers = co_await locks_.take_each(std::move(name), detached, stop_, names);
    if (!answers.front()) co_return Unexpected{std::move(answers.front()).error()};
    const Millis granted = locks_.ttl(*answers.front());
    if (granted >= claim_.interval) co_return std::move(answers.front());
    std::vector<Lease> held;
    held.push_back(*std::move(answers.front()));
    co_await locks_.give_back(std::move(held));
    co_return Unexpected{too_short(granted)};
  }

  /// The errors stay.
  static std::vector<Lease> taken_of(TakenAll<Locks>& names, typename Locks::Taken& interval) {
    std::vector<Lease> all;
    if (names) all = *std::move(names);
    if (interval) all.push_back(*std::move(interval));
    return all;
  }

  Millis left() const { return patience_.left(locks_.now()); }

  static bool is_contention(Errc code) { return code == Errc::busy || code == Errc::timeout; }
  bool may_wait(const AcquireError& error) const {
    return is_contention(error.code) && left() > Millis{0};
  }

  /// The last attempt of who has waited is one that does not wait.
  IntervalError in_the_end(AcquireError error) const {
    if (error.code == Errc::busy && claim_.options.wait > Millis{0}) error.code = Errc::timeout;
    return IntervalError{std::move(error)};
  }

  IntervalError not_due(AcquireError error) const {
    IntervalError refusal = in_the_end(std::move(error));
    if (is_contention(refusal.code) && refusal.holder) refusal.due_in = refusal.holder->ttl;
    return refusal;
  }

  static IntervalError over_too_soon() {
    return {Errc::timeout, "the interval was over before the run could begin"};
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
  Patience patience_;
};

}  // namespace holdfast::recipes
