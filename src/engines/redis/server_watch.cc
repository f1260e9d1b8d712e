#include "engines/redis/server_watch.h"

#include <utility>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

constexpr Millis kGlanceEvery = 10s;
constexpr Millis kPatience = 1s;

}  // namespace

ServerWatch::Seen ServerWatch::take_in(const Result<Reply>& reply, TimePoint sent_at) {
  auto signs = reply ? read_signs(*reply, sent_at, env_.now()) : std::nullopt;
  if (!signs || (latest_ && latest_->sent_at > sent_at)) return Seen::nothing;
  if (!latest_) {
    latest_ = std::move(signs);
    return Seen::first;
  }
  if (const auto change = what_happened(*latest_, *signs)) {
    change_ = change;
    changed_at_ = sent_at;
  }
  latest_ = std::move(signs);
  return Seen::again;
}

void ServerWatch::glance() {
  const TimePoint now = env_.now();
  if (asked_at_ != TimePoint::min() && now - asked_at_ < kGlanceEvery) return;
  asked_at_ = now;
  auto on_answer = [self = shared_from_this(), now](Result<Reply> reply) {
    static_cast<void>(self->take_in(reply, now));
  };
  const SharedCall call = share({.script = &kSignsScript, .keys = {}, .args = {}});
  port_->send(call, now + kPatience, std::move(on_answer));
}

Task<core::Fate> ServerWatch::explain(Millis ttl, TimePoint answer_by) {
  const auto self = shared_from_this();
  const TimePoint sent_at = env_.now();
  const SharedCall call = share({.script = &kSignsScript, .keys = {}, .args = {}});
  const auto reply = co_await port_->eval(call, answer_by);
  if (take_in(reply, sent_at) != Seen::again) co_return core::Fate::gone;
  // An earlier look may have seen what only a renewal finds out about leases.
  if (!change_ || env_.now() - changed_at_ > ttl) co_return core::Fate::removed;
  const bool too_little = change_->fate == core::Fate::clock_stepped && change_->ahead < ttl / 2;
  co_return too_little ? core::Fate::removed : change_->fate;
}

}  // namespace holdfast::redis
