// The side of an engine that lives on its Env's thread, and how other threads ask it.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/env.h"
#include "core/answer.h"
#include "core/lease_session.h"
#include "core/limit_desk.h"
#include "core/lock_desk.h"

namespace holdfast::core {

/// Copied by any thread, used and let go by tasks of the Env. Who has a copy is under way: the
/// backend waits for them, for a while, when it is destroyed.
struct SessionSide {
  std::shared_ptr<LeaseSession> session;
  std::shared_ptr<LockDesk> desk;
  /// Empty: the engine has none.
  std::shared_ptr<LimitDesk> limits;
  std::shared_ptr<UnderWay> under_way;
};

template <class T>
using SessionCall = std::function<Task<T>(const SessionSide&)>;

template <class T>
Task<void> answer_call(SessionCall<T> call, SessionSide side, std::shared_ptr<Answer<T>> answer) {
  Task<T> task = call(side);
  T value = co_await std::move(task);
  answer->set(std::move(value));
}

/// Makes the call in a task of the Env and waits for its value until `limit`. Empty: the Env's
/// thread did not get round to it. Precondition: not on the Env's thread.
template <class T>
std::optional<T> ask(Env& env, const SessionSide& side, SessionCall<T> call, TimePoint limit) {
  const auto answer = std::make_shared<Answer<T>>();
  env.spawn_and_wait(answer_call<T>(std::move(call), side, answer), *answer, limit);
  return answer->get(TimePoint{});
}

}  // namespace holdfast::core
