#include "engines/zookeeper/zookeeper_session.h"

#include <algorithm>
#include <utility>

namespace holdfast::zookeeper {

bool Session::is_fresh(TimePoint now) const {
  if (is_over() || !is_made()) return false;
  const TimePoint overdue = validity_->confirmed_at() + Duration{ttl()} / 2;
  return now < std::min(overdue, valid_until());
}

void Session::connect(const SessionEvent& event) {
  key_ = event.key;
  if (validity_) validity_->connected(event.asked_at);
  if (!validity_) validity_.emplace(event.asked_at, event.timeout);
  connected_ = true;
  ++connections_;
  trouble_.reset();
  wake();
}

void Session::disconnect(Error why) {
  connected_ = false;
  trouble_ = std::move(why);
  if (validity_) validity_->disconnected();
  wake();
}

void Session::end_as(LossReason reason) {
  set_end(reason);
  connected_ = false;
  wake();
}

void Session::acknowledge(TimePoint sent_at, TimePoint answered_at) {
  validity_->acknowledged(sent_at, answered_at);
}

LossReason Session::explain_end(TimePoint now) const {
  return is_made() && now < valid_until() ? LossReason::revoked : LossReason::expired;
}

void Session::wake() {
  for (const auto& alarm : std::exchange(waiting_, {})) alarm->ring();
}

}  // namespace holdfast::zookeeper
