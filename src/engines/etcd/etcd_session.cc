#include "engines/etcd/etcd_session.h"

#include <algorithm>

#include "core/validity.h"

namespace holdfast::etcd {

TimePoint Session::valid_until() const { return core::deadline_of(confirmed_at_, ttl_); }

bool Session::is_fresh(TimePoint now) const {
  return !is_over() && now < confirmed_at_ + Duration{ttl_} * 2 / 3;
}

void Session::confirm(TimePoint sent_at) { confirmed_at_ = std::max(confirmed_at_, sent_at); }

LossReason Session::explain_end(TimePoint now) const {
  return now < valid_until() ? LossReason::revoked : LossReason::expired;
}

}  // namespace holdfast::etcd
