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

}  // namespace

Violations check_progress(const History& history) {
  Violations found;
  const Crashes crashes{history};
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
