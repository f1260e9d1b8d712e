#include "engines/zookeeper/validity.h"

#include <algorithm>

#include "core/validity.h"

namespace holdfast::zookeeper {
namespace {

// No server grants less than two ticks unless it is told to, so that this is half a tick or more.
constexpr Duration between_pings(Millis ttl) { return Duration{ttl} / 4; }

constexpr std::size_t kRemembered = 8;

}  // namespace

Validity::Validity(TimePoint asked_at, Millis ttl)
    : ttl_{ttl}, counts_from_{asked_at}, confirmed_at_{asked_at} {}

void Validity::connected(TimePoint asked_at) {
  acknowledged_.clear();
  reconnected_at_ = asked_at;
}

void Validity::disconnected() {
  acknowledged_.clear();
  reconnected_at_.reset();
}

void Validity::acknowledged(TimePoint sent_at, TimePoint answered_at) {
  for (const Beat& beat : acknowledged_) {
    if (beat.answered_at + between_pings(ttl_) >= sent_at) continue;
    counts_from_ = std::max(counts_from_, beat.sent_at);
  }
  if (reconnected_at_) counts_from_ = std::max(counts_from_, *reconnected_at_);
  reconnected_at_.reset();
  confirmed_at_ = std::max(confirmed_at_, sent_at);
  acknowledged_.push_back({.sent_at = sent_at, .answered_at = answered_at});
  if (acknowledged_.size() > kRemembered) acknowledged_.pop_front();
}

TimePoint Validity::valid_until() const { return core::deadline_of(counts_from_, ttl_); }

TimePoint Validity::worth_at() const {
  if (acknowledged_.empty()) return confirmed_at_;
  return acknowledged_.back().answered_at + between_pings(ttl_) + Duration{1};
}

}  // namespace holdfast::zookeeper
