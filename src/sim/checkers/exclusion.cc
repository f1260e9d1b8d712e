#include "sim/checkers/exclusion.h"

#include <algorithm>

#include "sim/checkers/lock_order.h"
#include "sim/checkers/sentence.h"

namespace holdfast::sim {
namespace {

/// Those that may break exclusion, the latest first; after them those under which only this
/// protocol may break it.
std::vector<Fault> excuses(const History& history) {
  std::vector<Fault> faults;
  for (const Fault& fault : history.faults) {
    const bool excuses = may_break_exclusion(fault.kind) || history.may_break.has(fault.kind);
    if (excuses) faults.push_back(fault);
  }
  std::stable_sort(faults.begin(), faults.end(), [](const Fault& left, const Fault& right) {
    const bool by_any = may_break_exclusion(left.kind);
    if (by_any != may_break_exclusion(right.kind)) return by_any;
    return left.when.begin > right.when.begin;
  });
  return faults;
}

Violation two_holders(const Acquisition& first, const Acquisition& second) {
  return {"L1",
          sentence("lock ",
                   second.lock,
                   ": client ",
                   second.client,
                   " got it at ",
                   second.returned_at,
                   " with ",
                   second.token,
                   ", while client ",
                   first.client,
                   " held it with ",
                   first.token,
                   " from ",
                   first.returned_at,
                   " to ",
                   first.held().end)};
}

void put_down(const std::vector<Fault>& faults,
              const Acquisition& first,
              const Acquisition& second,
              Exclusion& result) {
  const TimePoint asked = std::min(first.called_at, second.called_at);
  const auto excuse = std::find_if(faults.begin(), faults.end(), [&](const Fault& fault) {
    const bool of_others = fault.kind == FaultClass::client_drift && fault.whom != first.client &&
                           fault.whom != second.client;
    return !of_others && fault.when.begin < second.returned_at && fault.when.end >= asked;
  });
  if (excuse == faults.end()) {
    result.violations.push_back(two_holders(first, second));
  } else {
    ++result.breaches.at(static_cast<std::size_t>(excuse->kind));
  }
}

}  // namespace

Exclusion check_exclusion(const History& history) {
  Exclusion result;
  std::vector<Keyed> grants;
  grants.reserve(history.acquisitions.size());
  for (std::size_t i = 0; i < history.acquisitions.size(); ++i) {
    const Acquisition& grant = history.acquisitions[i];
    const Span held = grant.held();
    if (held.begin < held.end) grants.push_back({grant.lock, order_key(held.begin), i});
  }
  order_by_lock(grants);
  const std::vector<Fault> faults = excuses(history);
  std::vector<const Acquisition*> holders;
  for_each_lock(grants, [&](std::span<const Keyed> of_lock) {
    holders.clear();
    for (const Keyed& item : of_lock) {
      const Acquisition& next = history.acquisitions[item.index];
      std::erase_if(holders, [&](const Acquisition* holder) {
        return holder->held().end <= next.returned_at;
      });
      for (const Acquisition* holder : holders) put_down(faults, *holder, next, result);
      holders.push_back(&next);
    }
  });
  return result;
}

}  // namespace holdfast::sim
