#include "holdfast/lease.h"

#include <algorithm>
#include <utility>

#include "core/backend.h"

namespace holdfast {

Lease::Lease(std::shared_ptr<LeaseCore> core) : core_{std::move(core)} {}

Lease::~Lease() {
  if (core_) core_->drop();
}

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this == &other) return *this;
  if (core_) core_->drop();
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
  core_->on_event(std::move(callback));
}

Result<void> Lease::renew() { return core_->renew(); }
ReleaseOutcome Lease::release() { return core_->release(); }

void Lease::async_release(std::function<void(ReleaseOutcome)> callback) {
  core_->async_release(std::move(callback));
}

Result<void> Lease::detach() { return core_->detach(); }
std::string Lease::sequencer() const { return core_->sequencer(); }

}  // namespace holdfast
