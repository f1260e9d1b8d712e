#include "holdfast/lease.h"

#include <algorithm>
#include <utility>

#include "core/backend.h"

namespace holdfast {
namespace {

/// Runs the callback after the witness has heard. What is behind a prefix runs it, perhaps after
/// the core in front has gone.
std::function<void(const LeaseEvent&)> told_first(std::weak_ptr<LeaseCore> weak,
                                                  LeaseWitness& witness,
                                                  std::function<void(const LeaseEvent&)> callback) {
  return
      [weak = std::move(weak), &witness, callback = std::move(callback)](const LeaseEvent& event) {
        if (const auto core = weak.lock()) witness.changed(*core, event);
        if (callback) callback(event);
      };
}

TimePoint ending_of(const LeaseCore& core, LeaseWitness& witness) {
  return core.ending() == Ending::told ? witness.ending(core) : TimePoint{};
}

void drop(LeaseCore& core) noexcept {
  LeaseWitness* const witness = core.take_witness();
  if (witness == nullptr) return core.drop();
  const TimePoint ending_at = ending_of(core, *witness);
  core.drop();
  switch (core.state()) {
    case LeaseState::released:
      return witness->ended(core, ReleaseOutcome::released, ending_at);
    case LeaseState::lost:
      return witness->ended(core, ReleaseOutcome::already_lost, ending_at);
    case LeaseState::held:
    case LeaseState::jeopardy:
      return witness->ended(core, std::nullopt, ending_at);
  }
}

}  // namespace

Lease::Lease(std::shared_ptr<LeaseCore> core) : core_{std::move(core)} {}

Lease::~Lease() {
  if (core_) drop(*core_);
}

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this == &other) return *this;
  if (core_) drop(*core_);
  core_ = std::move(other.core_);
  return *this;
}

const std::string& Lease::name() const { return core_->name(); }
Mode Lease::mode() const { return core_->mode(); }
Token Lease::token() const { return core_->token(); }
Owner Lease::owner() const { return core_->owner(); }
Millis Lease::ttl() const { return core_->ttl(); }
LeaseState Lease::state() const { return core_->state(); }
LossReason Lease::loss_reason() const { return core_->loss_reason(); }
TimePoint Lease::valid_until() const { return core_->valid_until(); }

Duration Lease::valid_for() const {
  const LeaseState now = core_->state();
  if (now == LeaseState::lost || now == LeaseState::released) return Duration{0};
  return std::max(Duration{0}, core_->valid_until() - BootClock::now());
}

Result<void> Lease::ensure_held() const {
  if (valid_for() > Duration{0}) return {};
  if (core_->state() == LeaseState::released) {
    return Unexpected{Error{Errc::lost, "the lease was released", "acquire the lock again"}};
  }
  const LossReason reason = core_->loss_reason();
  // The clock is ahead of the keeper for a moment: the deadline has passed, and nothing else.
  const LossReason known = reason == LossReason::none ? LossReason::expired : reason;
  return Unexpected{Error{Errc::lost, "the lease is lost: " + std::string{to_string(known)}}};
}

std::stop_token Lease::stop_token() const { return core_->stop_token(); }

void Lease::on_event(std::function<void(const LeaseEvent&)> callback) {
  if (LeaseWitness* const witness = core_->witness()) {
    callback = told_first(core_, *witness, std::move(callback));
  }
  core_->on_event(std::move(callback));
}

Result<void> Lease::renew() {
  auto answer = core_->renew();
  if (LeaseWitness* const witness = core_->witness()) witness->renewed(*core_, answer);
  return answer;
}

ReleaseOutcome Lease::release() {
  LeaseWitness* const witness = core_->take_witness();
  if (witness == nullptr) return core_->release();
  const TimePoint ending_at = ending_of(*core_, *witness);
  const ReleaseOutcome outcome = core_->release();
  witness->ended(*core_, outcome, ending_at);
  return outcome;
}

void Lease::async_release(std::function<void(ReleaseOutcome)> callback) {
  LeaseWitness* const witness = core_->take_witness();
  if (witness == nullptr) return core_->async_release(std::move(callback));
  auto told = [core = core_, witness, ending_at = ending_of(*core_, *witness), callback](
                  ReleaseOutcome outcome) {
    witness->ended(*core, outcome, ending_at);
    callback(outcome);
  };
  core_->async_release(std::move(told));
}

Result<void> Lease::detach() { return core_->detach(); }
std::string Lease::sequencer() const { return core_->sequencer(); }

}  // namespace holdfast
