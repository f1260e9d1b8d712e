#include "sim/checkers/progress.h"

#include <algorithm>

#include "sim/checkers/presence.h"
#include "sim/checkers/sentence.h"

namespace holdfast::sim {
namespace {

/// For what the caller's process itself takes.
constexpr Duration kTolerance = Millis{1};

Violation answered_late(const Acquisition& call, TimePoint due) {
  return {"V1",
          sentence("lock ",
                   call.lock,
                   ": client ",
                   call.client,
                   " asked at ",
                   call.called_at,
                   " for an answer by ",
                   call.answer_by,
                   ", due at ",
                   due,
                   " with its pauses, and had it at ",
                   call.returned_at)};
}

Violation released_late(const Acquisition& lease, TimePoint due) {
  return {"V1",
          sentence("lock ",
                   lease.lock,
                   ": client ",
                   lease.client,
                   " gave it up at ",
                   lease.release_called_at,
                   ", was to be done at ",
                   due,
                   " with its pauses, and was at ",
                   lease.release_returned_at)};
}

void check_release(const History& history, const Acquisition& lease, Violations& found) {
  if (lease.release_called_at == kNever || lease.release_returned_at <= lease.release_by) return;
  const Span waiting{lease.release_called_at,
                     std::min(lease.release_returned_at, history.ended_at)};
  const TimePoint due =
      lease.release_by + paused_within(history, lease.client, waiting) + kTolerance;
  if (due < history.ended_at && due < lease.release_returned_at) {
    found.push_back(released_late(lease, due));
  }
}

}  // namespace

Violations check_progress(const History& history) {
  Violations found;
  const Crashes crashes{history};
  for (const Acquisition& lease : history.acquisitions) {
    if (!crashes.ended_in_release(lease)) check_release(history, lease, found);
  }
  for (const Acquisition& call : history.acquisitions) {
    if (call.returned_at <= call.answer_by) continue;
    if (crashes.ended(call)) continue;
    const Span waiting{call.called_at, std::min(call.returned_at, history.ended_at)};
    const TimePoint due =
        call.answer_by + paused_within(history, call.client, waiting) + kTolerance;
    if (due < history.ended_at && due < call.returned_at) found.push_back(answered_late(call, due));
  }
  return found;
}

}  // namespace holdfast::sim
