#include "core/session_limiter.h"

#include <utility>

namespace holdfast::core {
namespace {

Error forked() { return {Errc::shutting_down, "the process has forked since it connected"}; }

/// Calls back exactly once, on the dispatcher's thread: a task that is unwound because its Env goes
/// has an answer, too.
class Delivery {
 public:
  Delivery(Dispatcher& dispatcher, ReserveCallback callback)
      : dispatcher_{dispatcher}, callback_{std::move(callback)} {}
  ~Delivery() { deliver(Unexpected{Error{Errc::shutting_down, "the client is being destroyed"}}); }
  Delivery(const Delivery&) = delete;
  Delivery& operator=(const Delivery&) = delete;

  void deliver(Result<RateDecision> result) {
    if (!callback_) return;
    dispatcher_.post([callback = std::exchange(callback_, nullptr), result = std::move(result)] {
      callback(result);
    });
  }

 private:
  /// Outlives the Env, and so every task.
  Dispatcher& dispatcher_;
  ReserveCallback callback_;
};

Task<void> reserve_and_tell(SessionSide side,
                            std::string key,
                            Take take,
                            TimePoint answer_by,
                            std::shared_ptr<Delivery> delivery) {
  auto result = co_await side.limits->reserve(std::move(key), take, answer_by);
  delivery->deliver(std::move(result));
}

}  // namespace

Result<RateDecision> SessionLimiter::reserve(std::string_view key, const Take& take) {
  if (backend_->forked()) return Unexpected{forked()};
  const TimePoint by = backend_->answer_by();
  const SessionCall<Result<RateDecision>> call =
      [text = std::string{key}, take, by](const SessionSide& side) {
        return side.limits->reserve(text, take, by);
      };
  return backend_->ask_engine(call, by, Errc::unknown_outcome);
}

void SessionLimiter::async_reserve(std::string key, const Take& take, ReserveCallback callback) {
  if (backend_->forked()) return callback(Unexpected{forked()});
  auto delivery = std::make_shared<Delivery>(backend_->dispatcher(), std::move(callback));
  backend_->env().spawn(reserve_and_tell(
      backend_->side(), std::move(key), take, backend_->answer_by(), std::move(delivery)));
}

}  // namespace holdfast::core
