#include "core/marked_store.h"

#include <algorithm>
#include <utility>

namespace holdfast::core {
namespace {

/// Well within kStoreMemory: what a key remembers outlasts every repetition.
constexpr Millis kTimeoutMax = std::chrono::minutes{5};
/// An attempt that is not answered leaves time to ask what became of it.
constexpr int kAttempts = 3;

bool may_pass(Errc code) {
  return code == Errc::unknown_outcome || code == Errc::unavailable || code == Errc::lost;
}

/// Whether somebody might have been told of something that has not been done yet.
bool changes_values(const StoreRequest& request) {
  return std::holds_alternative<PutKey>(request.operation) ||
         std::holds_alternative<EraseKey>(request.operation) ||
         std::holds_alternative<WriteResource>(request.operation) ||
         std::holds_alternative<RebaseResource>(request.operation);
}

template <class Doubt>
StoreError in_doubt(const StoreRequest& request, const Doubt& doubt) {
  StoreError error = unanswered(request);
  error.message += " (" + doubt.cause + ')';
  return error;
}

/// What is known of the course decides it. Empty: it must look first.
template <class Course>
Result<std::optional<StoreStep>, StoreError> next_step(const Course& course) {
  const StoreSight& sight = course.sight;
  const bool looked = sight.depth == StoreSight::Depth::all;
  if (!looked && !decides_by_mark(course.request, sight)) return std::optional<StoreStep>{};
  auto step = decide(course.request, sight, course.ticket);
  if (!looked && (!step || !step->change)) return std::optional<StoreStep>{};
  const bool was_done = step && step->reply.changed && !step->change;
  if (course.doubt && !was_done && changes_values(course.request)) {
    // Refused, although the earlier attempt may still find what it needs; or so much has happened
    // that its traces would be gone.
    const bool may_come = !step && sight.text == course.doubt->of_mark;
    if (may_come || !remembers(sight, course.doubt->since)) {
      return Unexpected{in_doubt(course.request, *course.doubt)};
    }
  }
  if (!step) return Unexpected{std::move(step).error()};
  return std::optional{*std::move(step)};
}

}  // namespace

MarkedStore::MarkedStore(Env& env, std::shared_ptr<void> port, Conduct conduct)
    : TaskStore{env, std::move(port)}, conduct_{std::move(conduct)} {
  conduct_.timeout = std::min(conduct_.timeout, kTimeoutMax);
}

std::optional<StoreResult> MarkedStore::take(Course& course,
                                             const std::optional<StoreStep>& step,
                                             Result<Attempt> answer) {
  if (answer && answer->outcome == Attempt::Outcome::made) return StoreResult{step->reply};
  if (answer) {
    course.sight = std::move(answer->sight);
    return std::nullopt;
  }
  const Errc code = answer.error().code;
  if (code == Errc::unknown_outcome && step) {
    const Version since = course.doubt ? course.doubt->since : step->change->mark.version;
    course.doubt = typename Course::Doubt{course.sight.text, since, answer.error().message};
  }
  course.sight = {};
  forget(course.request);
  const Duration pause = backoff_bound(conduct_.retry, course.failures);
  if (may_pass(code) && env().now() + pause < course.answer_by) return std::nullopt;
  if (course.doubt) return StoreResult{Unexpected{in_doubt(course.request, *course.doubt)}};
  StoreError error{std::move(answer).error()};
  // Whatever was not answered has only looked.
  if (may_pass(code)) error.code = Errc::unavailable;
  return StoreResult{Unexpected{std::move(error)}};
}

Task<StoreResult> MarkedStore::settle(const StoreRequest& request) {
  const Duration patience = conduct_.timeout;
  Course course{.request = request,
                .ticket = {.id = std::to_string(env().draw()), .who = conduct_.who},
                .answer_by = env().now() + patience};
  course.sight = recall(request);
  while (true) {
    const auto step = next_step(course);
    if (!step) co_return Unexpected{step.error()};
    if (*step && !(*step)->change) co_return (*step)->reply;
    const StoreChange* change = *step ? &*(*step)->change : nullptr;
    const TimePoint attempt_by = env().now() + patience / kAttempts;
    auto answer = co_await attempt(course, change, std::min(attempt_by, course.answer_by));
    const bool failed = !answer;
    if (auto result = take(course, *step, std::move(answer))) co_return *std::move(result);
    if (!failed) continue;
    co_await env().sleep_for(backoff_delay(conduct_.retry, course.failures++, env().draw()));
  }
}

Error not_a_mark(const std::string& key) {
  return {Errc::corrupt,
          "what is stored with the key " + key + " is not a mark of this store",
          "another program has written there: use another prefix"};
}

}  // namespace holdfast::core
