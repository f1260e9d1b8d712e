#include "tests/etcd_store/faulty_port.h"

#include <memory>
#include <utility>

namespace holdfast::etcd_store {
namespace {

template <class Answer, class OnAnswer>
void hand_over(Env& env, Result<Answer> answer, OnAnswer on_answer) {
  const auto receiver = std::make_shared<OnAnswer>(std::move(on_answer));
  env.post([receiver, answer = std::move(answer)] { (*receiver)(answer); });
}

Duration server_time() { return BootClock::now().time_since_epoch(); }

}  // namespace

Fault FaultyPort::next_fate(const etcd::Txn& txn) {
  const std::lock_guard lock{mutex_};
  ++sent_;
  if (txn.when.empty() || faults_.empty()) return {usual_};
  Fault fault = std::move(faults_.front());
  faults_.pop_front();
  return fault;
}

Result<etcd::TxnAnswer> FaultyPort::meet(const etcd::SharedTxn& txn, Fate fate) {
  if (fate == Fate::not_sent) return Unexpected{Error{Errc::unavailable, "not sent"}};
  if (fate == Fate::locked_out) return Unexpected{Error{Errc::denied, "locked out"}};
  if (fate == Fate::delayed) {
    const std::lock_guard lock{mutex_};
    delayed_.push_back(txn);
  }
  if (fate == Fate::answered || fate == Fate::answer_lost) {
    const std::lock_guard lock{server_.mutex};
    server_.model.expire(server_time());
    auto answer = server_.model.commit(*txn);
    if (fate == Fate::answered) return answer;
  }
  return Unexpected{Error{Errc::unknown_outcome, "no answer"}};
}

void FaultyPort::commit(etcd::SharedTxn txn, TimePoint, etcd::OnTxn on_answer) {
  const Fault fault = next_fate(*txn);
  auto answer = meet(txn, fault.fate);
  if (fault.meanwhile) fault.meanwhile();
  hand_over(env_, std::move(answer), std::move(on_answer));
}

void FaultyPort::grant(etcd::LeaseId lease, etcd::Seconds ttl, TimePoint, etcd::OnLease on_answer) {
  const std::lock_guard lock{server_.mutex};
  hand_over(env_, server_.model.grant(lease, ttl, server_time()), std::move(on_answer));
}

void FaultyPort::keep_alive(etcd::LeaseId lease, TimePoint, etcd::OnLease on_answer) {
  const std::lock_guard lock{server_.mutex};
  hand_over(env_, server_.model.keep_alive(lease, server_time()), std::move(on_answer));
}

void FaultyPort::revoke(etcd::LeaseId lease, TimePoint, etcd::OnLease on_answer) {
  const std::lock_guard lock{server_.mutex};
  hand_over(env_, server_.model.revoke(lease), std::move(on_answer));
}

void FaultyPort::look_up(etcd::LeaseId lease, TimePoint, etcd::OnLease on_answer) {
  const std::lock_guard lock{server_.mutex};
  hand_over(env_, server_.model.look_up(lease, server_time()), std::move(on_answer));
}

void FaultyPort::expect(std::vector<Fault> faults) {
  const std::lock_guard lock{mutex_};
  for (Fault& fault : faults) faults_.push_back(std::move(fault));
}

void FaultyPort::always(Fate fate) {
  const std::lock_guard lock{mutex_};
  usual_ = fate;
}

bool FaultyPort::deliver() {
  etcd::SharedTxn txn;
  {
    const std::lock_guard lock{mutex_};
    txn = delayed_.front();
    delayed_.pop_front();
  }
  const std::lock_guard lock{server_.mutex};
  const auto answer = server_.model.commit(*txn);
  return answer && answer->held;
}

int FaultyPort::sent() const {
  const std::lock_guard lock{mutex_};
  return sent_;
}

}  // namespace holdfast::etcd_store
