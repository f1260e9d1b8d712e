#include "engines/etcd/etcd_parts.h"

#include <algorithm>
#include <utility>

namespace holdfast::etcd {
namespace {

/// A full cluster still erases keys, but takes no mark.
void leave_within_quota(Place& place, Errc refusal) {
  if (refusal == Errc::no_space) place.unsettled = false;
}

Task<void> leave_while_it_stands(std::shared_ptr<Parts> parts,
                                 Place place,
                                 std::shared_ptr<Session> session) {
  for (std::uint32_t attempt = 0; !session->is_over(); ++attempt) {
    const SharedTxn txn = share(leave_txn(parts->keys, place));
    const TimePoint by = parts->env.now() + parts->settings.timeout;
    const auto answer = co_await parts->port->committed(txn, by);
    // Without its lease it is gone, too.
    if (answer || answer.error().code == Errc::lost) co_return;
    leave_within_quota(place, answer.error().code);
    const Duration delay = backoff_delay(parts->settings.retry, attempt, parts->env.draw());
    co_await parts->env.sleep_for(delay);
  }
}

}  // namespace

bool may_pass(Errc code) { return code == Errc::unknown_outcome || code == Errc::unavailable; }

TimePoint Parts::attempt_end(TimePoint answer_by) const {
  return std::min(answer_by, env.now() + settings.timeout);
}

Task<ReleaseOutcome> Parts::leave(Place place, TimePoint valid_until, TimePoint answer_by) const {
  bool unsettled = false;
  for (std::uint32_t attempt = 0;; ++attempt) {
    const SharedTxn txn = share(leave_txn(keys, place));
    const auto answer = co_await port->committed(txn, attempt_end(answer_by));
    const bool lost = !answer && answer.error().code == Errc::lost;
    if (answer && read_left(*answer) == Left::now) co_return ReleaseOutcome::released;
    if ((answer || lost) && !unsettled) co_return ReleaseOutcome::already_lost;
    if (answer || lost) {
      // Where the lease still stands, it was our own unanswered request that erased it.
      const bool by_us = env.now() < valid_until;
      co_return by_us ? ReleaseOutcome::released : ReleaseOutcome::unknown;
    }
    unsettled = unsettled || answer.error().code == Errc::unknown_outcome;
    leave_within_quota(place, answer.error().code);
    const Duration delay = backoff_delay(settings.retry, attempt, env.draw());
    if (env.now() + delay >= answer_by) co_return ReleaseOutcome::unknown;
    co_await env.sleep_for(delay);
  }
}

void Parts::leave_at_last(const std::shared_ptr<Parts>& parts,
                          Place place,
                          std::shared_ptr<Session> session) {
  parts->env.spawn(leave_while_it_stands(parts, std::move(place), std::move(session)));
}

}  // namespace holdfast::etcd
