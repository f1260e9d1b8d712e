#include "core/store_repetition.h"

#include <utility>

#include "core/task_store.h"

namespace holdfast::core {

StoreRepetition::StoreRepetition(Env& env,
                                 const StoreRequest& request,
                                 Millis timeout,
                                 BackoffPolicy retry)
    : env_{env},
      request_{request},
      retry_{retry},
      answer_by_{env.now() + timeout},
      id_{env.draw()} {}

std::optional<StoreResult> StoreRepetition::take(Result<StoreAnswer> answer) {
  const bool answered = answer.has_value();
  StoreResult result =
      answered ? std::move(answer->result) : Unexpected{StoreError{answer.error()}};
  if (answered && (attempt_ == Attempt::first || answer->earlier == Earlier::settled)) {
    return result;
  }
  const Errc code = result.error().code;
  if (code == Errc::unknown_outcome) attempt_ = Attempt::repeated;
  // A server that is starting, for one, can tell a little later.
  const bool may_help = code == Errc::unknown_outcome || code == Errc::unavailable;
  delay_ = backoff_delay(retry_, failures_++, env_.draw());
  if (may_help && env_.now() + delay_ < answer_by_) return std::nullopt;
  if (attempt_ == Attempt::repeated) return Unexpected{unanswered(request_)};
  return result;
}

}  // namespace holdfast::core
