#include "engines/etcd/etcd_session.h"

#include <algorithm>
#include <utility>

#include "core/validity.h"

namespace holdfast::etcd {

TimePoint Session::valid_until() const { return core::deadline_of(confirmed_at_, ttl_); }

bool Session::is_fresh(TimePoint now) const {
  return !is_over() && now < confirmed_at_ + Duration{ttl_} * 2 / 3;
}

void Session::confirm(TimePoint sent_at) { confirmed_at_ = std::max(confirmed_at_, sent_at); }

void Session::end_as(LossReason reason) {
  if (!is_over()) end_ = reason;
}

LossReason Session::explain_end(TimePoint now) const {
  return now < valid_until() ? LossReason::revoked : LossReason::expired;
}

core::Fate fate_of(LossReason reason) {
  switch (reason) {
    case LossReason::revoked:
      return core::Fate::revoked;
    case LossReason::rolled_back:
      return core::Fate::rolled_back;
    case LossReason::removed:
      return core::Fate::removed;
    case LossReason::broken:
      return core::Fate::broken;
    default:
      return core::Fate::gone;
  }
}

SessionUse::SessionUse(std::shared_ptr<Session> session, TimePoint now)
    : session_{std::move(session)} {
  ++session_->users_;
  session_->used_at_ = now;
}

SessionUse& SessionUse::operator=(SessionUse&& other) noexcept {
  if (this == &other) return *this;
  let_go();
  session_ = std::move(other.session_);
  return *this;
}

void SessionUse::let_go() noexcept {
  if (session_) --session_->users_;
  session_.reset();
}

}  // namespace holdfast::etcd
