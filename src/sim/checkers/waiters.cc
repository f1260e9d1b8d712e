#include "sim/checkers/waiters.h"

#include "sim/checkers/presence.h"
#include "sim/checkers/sentence.h"

namespace holdfast::sim {
namespace {

Violation forgotten_waiter(const Acquisition& call, TimePoint healed_at, std::string_view what) {
  return {"waiter",
          sentence("lock ",
                   call.lock,
                   ": client ",
                   call.client,
                   " asked at ",
                   call.called_at,
                   " in a world that healed at ",
                   healed_at,
                   " and ",
                   what,
                   call.returned_at)};
}

}  // namespace

Violations check_waiters(const History& history) {
  Violations found;
  if (history.healed_at == kNever) return found;
  if (!history.idle) {
    found.push_back({"waiter", "a task had not ended long after the world healed"});
  }
  const Crashes crashes{history};
  for (const Acquisition& call : history.acquisitions) {
    if (call.granted() || crashes.ended(call)) continue;
    if (call.outcome == Outcome::none) {
      if (call.called_at < history.ended_at) {
        found.push_back(forgotten_waiter(call, history.healed_at, "had its answer "));
      }
    } else if (call.called_at > history.healed_at) {
      found.push_back(forgotten_waiter(call, history.healed_at, "was denied at "));
    }
  }
  return found;
}

}  // namespace holdfast::sim
