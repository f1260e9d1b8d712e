#include "tests/redis_store/faulty_port.h"

#include <utility>

#include "base/assert.h"

namespace holdfast::redis_store {

using redis::Reply;

void FaultyPort::send(redis::SharedCall call, TimePoint answer_by, redis::OnAnswer on_answer) {
  std::unique_lock lock{mutex_};
  ++sent_;
  Fault fault{.fate = usual_};
  if (!faults_.empty()) {
    fault = std::move(faults_.front());
    faults_.pop_front();
  }
  Result<Reply> answer = meet(call, fault.fate);
  lock.unlock();
  if (fault.meanwhile) fault.meanwhile();
  const auto waiting = std::make_shared<redis::OnAnswer>(std::move(on_answer));
  const auto hand_over = [waiting, answer = std::move(answer)] { (*waiting)(answer); };
  if (fault.fate != Fate::silence) return env_.post(hand_over);
  // Kept by the Env, which forgets it when it goes.
  env_.park(answer_by, Parked{Work{[this, hand_over] { env_.post(hand_over); }}});
}

Result<Reply> FaultyPort::meet(const redis::SharedCall& call, Fate fate) {
  switch (fate) {
    case Fate::answered:
      return connection_.eval(*call);
    case Fate::not_sent:
      return Unexpected{Error{Errc::unavailable, "no connection"}};
    case Fate::locked_out:
      return Unexpected{Error{Errc::denied, "wrong password"}};
    case Fate::answer_lost:
      static_cast<void>(connection_.eval(*call));
      break;
    case Fate::delayed:
      delayed_.push_back(call);
      break;
    case Fate::silence:
    case Fate::request_lost:
      break;
  }
  return Unexpected{Error{Errc::unknown_outcome, "the connection broke"}};
}

void FaultyPort::subscribe(std::string, redis::OnHeard) { HOLDFAST_ASSERT(false); }
void FaultyPort::unsubscribe(const std::string&) { HOLDFAST_ASSERT(false); }

void FaultyPort::expect(std::vector<Fault> faults) {
  const std::lock_guard lock{mutex_};
  for (Fault& fault : faults) faults_.push_back(std::move(fault));
}

void FaultyPort::always(Fate fate) {
  const std::lock_guard lock{mutex_};
  usual_ = fate;
}

Result<Reply> FaultyPort::deliver() {
  const std::lock_guard lock{mutex_};
  HOLDFAST_ASSERT(!delayed_.empty());
  const redis::SharedCall call = std::move(delayed_.front());
  delayed_.pop_front();
  return connection_.eval(*call);
}

int FaultyPort::sent() const {
  const std::lock_guard lock{mutex_};
  return sent_;
}

}  // namespace holdfast::redis_store
