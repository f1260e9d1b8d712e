#include "sim/checkers/honesty.h"

#include <algorithm>

#include "sim/checkers/presence.h"
#include "sim/checkers/sentence.h"

namespace holdfast::sim {
namespace {

Violation found_good(const Operation& operation,
                     const Acquisition& lease,
                     std::string_view over,
                     TimePoint when) {
  return {"L2",
          sentence("lock ",
                   lease.lock,
                   ": client ",
                   lease.client,
                   " found its lease with ",
                   lease.token,
                   " good at ",
                   operation.checked_at,
                   ", though ",
                   over,
                   when)};
}

void check_look(const Operation& operation, const Acquisition& lease, Violations& found) {
  const TimePoint looked = operation.checked_at;
  if (looked >= lease.deadline) {
    found.push_back(found_good(operation, lease, "its deadline was ", lease.deadline));
  } else if (looked > lease.release_called_at) {
    found.push_back(found_good(operation, lease, "it gave it up at ", lease.release_called_at));
  } else if (lease.loss != LossReason::none && looked > lease.loss_heard_at) {
    found.push_back(found_good(operation, lease, "it heard of its loss at ", lease.loss_heard_at));
  }
}

Violation heard_wrongly(const Acquisition& lease, TimePoint due) {
  return {"L2",
          sentence("lock ",
                   lease.lock,
                   ": client ",
                   lease.client,
                   " heard at ",
                   lease.loss == LossReason::none ? kNever : lease.loss_heard_at,
                   " that its lease with ",
                   lease.token,
                   " was lost; the deadline was ",
                   lease.deadline,
                   " and its first chance to hear of it ",
                   due)};
}

void check_loss(const History& history, const Acquisition& lease, Violations& found) {
  // Nothing is demanded for the instant at which two things happen: either may be first.
  const TimePoint gone = std::min({lease.release_called_at, lease.crashed_at, history.ended_at});
  if (gone < lease.deadline && lease.loss == LossReason::none) return;
  const TimePoint over = std::max(lease.deadline, lease.returned_at);
  const TimePoint due = first_chance(history, lease.client, over);
  const bool lost = lease.loss != LossReason::none;
  const bool too_late = due < gone && (!lost || lease.loss_heard_at > due);
  const bool too_early = lease.loss == LossReason::expired && lease.loss_heard_at < lease.deadline;
  if (too_late || too_early) found.push_back(heard_wrongly(lease, due));
}

}  // namespace

Violations check_honesty(const History& history) {
  Violations found;
  for (const Operation& operation : history.operations) {
    check_look(operation, history.acquisitions[operation.acquisition], found);
  }
  for (const Acquisition& acquisition : history.acquisitions) {
    if (acquisition.granted()) check_loss(history, acquisition, found);
  }
  return found;
}

}  // namespace holdfast::sim
