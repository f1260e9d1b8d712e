// Takes several locks, all or none: docs/adr/0012-several-locks-in-order.md says why nobody can
// wait in a circle, and why everybody gets on.
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
#include "holdfast/client.h"
#include "recipes/patience.h"

namespace holdfast::recipes {

template <class Locks>
using TakenAll = Result<std::vector<typename Locks::Lease>, AcquireError>;

/// Thread safety: none. Lifetime: outlives run(), as do the locks and what the options view.
template <class Locks>
class OrderedTaking {
 public:
  using Lease = typename Locks::Lease;

  /// Everybody has to bring the names in the same order.
  OrderedTaking(Locks& locks,
                std::vector<std::string> names,
                const AcquireOptions& options,
                std::stop_token stop)
      : locks_{locks},
        names_{std::move(names)},
        options_{options},
        stop_{std::move(stop)},
        patience_{locks.now(), options.wait} {}

  /// The leases in the order of the names. Failures as Client::acquire(); nothing is held then.
  Task<TakenAll<Locks>> run() {
    for (;;) {
      std::optional<AcquireError> refusal = co_await ask_for_all_at_once();
      while (!refusal && held_.size() < names_.size()) {
        auto next = co_await wait_for_next();
        refusal = std::move(next);
      }
      std::vector<Lease> held = std::exchange(held_, {});
      if (!refusal && all_stand(held)) co_return held;
      co_await locks_.give_back(std::move(held));
      if (refusal) co_return Unexpected{*std::move(refusal)};
      // Something was lost while the rest was waited for. The engine was in trouble, not we.
      if (patience_.left(locks_.now()) == Millis{0}) {
        co_return Unexpected{
            AcquireError{Errc::timeout, "a lease was lost while the others were waited for"}};
      }
    }
  }

 private:
  // Whatever comes after a name that is not to be had is given back: who waits holds nothing but
  // what comes before the name it waits for.
  Task<std::optional<AcquireError>> ask_for_all_at_once() {
    if (names_.size() == 1) co_return std::nullopt;
    AcquireOptions once = options_;
    once.wait = Millis{0};
    auto answers = co_await locks_.take_each(names_, once, stop_, held_);
    std::optional<AcquireError> refusal;
    std::vector<Lease> beyond;
    for (auto& answer : answers) {
      if (answer) {
        (refusal ? beyond : held_).push_back(*std::move(answer));
      } else if (!refusal || graver(answer.error(), *refusal)) {
        refusal = std::move(answer).error();
      }
    }
    if (!beyond.empty()) co_await locks_.give_back(std::move(beyond));
    const bool may_wait = options_.wait > Millis{0};
    if (refusal && may_wait && is_contention(refusal->code)) refusal.reset();
    co_return refusal;
  }

  Task<std::optional<AcquireError>> wait_for_next() {
    AcquireOptions patient = options_;
    patient.wait = patience_.left(locks_.now());
    std::vector<std::string> next{names_[held_.size()]};
    auto answers = co_await locks_.take_each(std::move(next), patient, stop_, held_);
    if (answers.front()) {
      held_.push_back(*std::move(answers.front()));
      co_return std::nullopt;
    }
    AcquireError refusal = std::move(answers.front()).error();
    if (refusal.code == Errc::busy && options_.wait > Millis{0}) refusal.code = Errc::timeout;
    co_return refusal;
  }

  static bool graver(const AcquireError& one, const AcquireError& other) {
    return is_contention(other.code) && !is_contention(one.code);
  }
  static bool is_contention(Errc code) { return code == Errc::busy || code == Errc::timeout; }

  bool all_stand(const std::vector<Lease>& leases) const {
    return std::ranges::all_of(leases, [this](const Lease& lease) { return locks_.stands(lease); });
  }

  Locks& locks_;
  std::vector<std::string> names_;
  AcquireOptions options_;
  std::stop_token stop_;
  Patience patience_;
  std::vector<Lease> held_;
};

/// Arguments as OrderedTaking's.
template <class Locks>
Task<TakenAll<Locks>> take_all(Locks& locks,
                               std::vector<std::string> names,
                               AcquireOptions options,
                               std::stop_token stop) {
  OrderedTaking<Locks> taking{locks, std::move(names), options, std::move(stop)};
  co_return co_await taking.run();
}

}  // namespace holdfast::recipes
