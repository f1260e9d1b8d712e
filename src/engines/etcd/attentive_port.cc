#include "engines/etcd/attentive_port.h"

#include <utility>

namespace holdfast::etcd {

void AttentivePort::heed(Timeline::Course course) const {
  if (course == Timeline::Course::back && on_back_) on_back_();
}

void AttentivePort::commit(SharedTxn txn, TimePoint answer_by, OnTxn on_answer) {
  auto note = [self = shared_from_this(), before = timeline_.now(), then = std::move(on_answer)](
                  Result<TxnAnswer> answer) mutable {
    if (answer) self->heed(self->timeline_.note(answer->header, before));
    then(std::move(answer));
  };
  port_->commit(std::move(txn), answer_by, std::move(note));
}

OnLease AttentivePort::noting(OnLease on_answer) {
  return [self = shared_from_this(), before = timeline_.detail(), then = std::move(on_answer)](
             Result<LeaseAnswer> answer) mutable {
    const auto course =
        answer ? self->timeline_.note(answer->header, before) : Timeline::Course::onward;
    self->heed(course);
    if (course != Timeline::Course::behind) return then(std::move(answer));
    // Whether it is only slow is to be known before anybody acts on what it says.
    const Range look{.keys = {.key = self->terms_.key}, .part = Range::Part::count_only};
    auto looked = [then = std::move(then), answer = std::move(answer)](
                      const Result<TxnAnswer>&) mutable { then(std::move(answer)); };
    self->commit(
        share({.then = {look}}), self->env_.now() + self->terms_.patience, std::move(looked));
  };
}

void AttentivePort::grant(LeaseId lease, Seconds ttl, TimePoint answer_by, OnLease on_answer) {
  port_->grant(lease, ttl, answer_by, noting(std::move(on_answer)));
}

void AttentivePort::keep_alive(LeaseId lease, TimePoint answer_by, OnLease on_answer) {
  port_->keep_alive(lease, answer_by, noting(std::move(on_answer)));
}

void AttentivePort::revoke(LeaseId lease, TimePoint answer_by, OnLease on_answer) {
  port_->revoke(lease, answer_by, noting(std::move(on_answer)));
}

void AttentivePort::look_up(LeaseId lease, TimePoint answer_by, OnLease on_answer) {
  port_->look_up(lease, answer_by, noting(std::move(on_answer)));
}

WatchId AttentivePort::watch(Watch watch, OnWatch on_watch) {
  return port_->watch(std::move(watch), std::move(on_watch));
}

void AttentivePort::unwatch(WatchId id) { port_->unwatch(id); }

}  // namespace holdfast::etcd
