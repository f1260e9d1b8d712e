#include "recipes/term.h"

#include <memory>
#include <utility>

#include "core/backend.h"
#include "core/election.h"

namespace holdfast {
namespace {

/// When the work has to end, as things are.
TimePoint work_ends_at(const Lease& lease, Millis grace) {
  const LeaseState state = lease.state();
  // What has ended has no deadline; its own stop tells of a loss.
  if (state == LeaseState::released || state == LeaseState::lost) return TimePoint::max();
  return core::work_ends_at(lease.valid_until(), lease.ttl(), grace);
}

}  // namespace

Term::Term(Client client, std::string id, Lease lease, Millis grace)
    : client_{std::move(client)},
      id_{std::move(id)},
      lease_{std::make_shared<Lease>(std::move(lease))},
      when_lost_{lease_->stop_token(), [stop = stop_]() mutable { stop.request_stop(); }},
      when_due_{[lease = lease_, grace] { return work_ends_at(*lease, grace); },
                [stop = stop_]() mutable { stop.request_stop(); }} {}

void Term::on_lost(const std::function<void(LossReason)>& callback) {
  const auto tell_once = [callback,
                          told = std::make_shared<std::atomic<bool>>(false)](LossReason reason) {
    if (!told->exchange(true)) callback(reason);
  };
  lease_->on_event([tell_once](const LeaseEvent& event) {
    if (event.state == LeaseState::lost) tell_once(event.reason);
  });
  // It may have been lost before anybody listened.
  if (lease_->state() == LeaseState::lost) tell_once(lease_->loss_reason());
}

void Term::forget_on_lost() { lease_->on_event({}); }

ReleaseOutcome Term::step_down() {
  leaving_.store(true);
  stop_.request_stop();
  const ReleaseOutcome outcome = lease_->release();
  client_.backend()->announce(lease_->name());
  return outcome;
}

void Term::async_step_down(std::function<void(ReleaseOutcome)> callback) {
  leaving_.store(true);
  stop_.request_stop();
  lease_->async_release([backend = client_.backend(),
                         name = lease_->name(),
                         callback = std::move(callback)](ReleaseOutcome outcome) {
    backend->announce(name);
    callback(outcome);
  });
}

}  // namespace holdfast
