#include "sim/checkers/fifo.h"

#include <algorithm>

#include "sim/checkers/lock_order.h"
#include "sim/checkers/sentence.h"

namespace holdfast::sim {
namespace {

Violation overtook(const Acquisition& first, const Acquisition& second) {
  return {"Q1",
          sentence("lock ",
                   second.lock,
                   ": client ",
                   second.client,
                   " asked at ",
                   first.called_at,
                   " and at ",
                   second.called_at,
                   ", and had its answers at ",
                   first.returned_at,
                   " and at ",
                   second.returned_at)};
}

/// The requests that were answered in time; each client's requests for a lock count as a lock of
/// their own.
std::vector<Keyed> answered(const History& history) {
  std::size_t locks = 0;
  for (const Acquisition& call : history.acquisitions) locks = std::max(locks, call.lock + 1);
  std::vector<Keyed> calls;
  calls.reserve(history.acquisitions.size());
  for (std::size_t i = 0; i < history.acquisitions.size(); ++i) {
    const Acquisition& call = history.acquisitions[i];
    if (call.returned_at >= call.answer_by) continue;
    calls.push_back({call.client * locks + call.lock, order_key(call.called_at), i});
  }
  order_by_lock(calls);
  return calls;
}

}  // namespace

Violations check_fifo(const History& history) {
  Violations found;
  for_each_lock(answered(history), [&](std::span<const Keyed> queue) {
    const Acquisition* latest = nullptr;
    for (const Keyed& item : queue) {
      const Acquisition& call = history.acquisitions[item.index];
      const bool same_process = latest != nullptr && latest->incarnation == call.incarnation;
      if (same_process && call.granted() && call.returned_at < latest->returned_at) {
        found.push_back(overtook(*latest, call));
      } else if (!same_process || call.returned_at > latest->returned_at) {
        latest = &call;
      }
    }
  });
  return found;
}

}  // namespace holdfast::sim
