#include "engines/redis/store/redis_store.h"

#include <algorithm>
#include <utility>

#include "engines/redis/store/store_answer.h"
#include "engines/redis/store/store_call.h"

namespace holdfast::redis {
namespace {

/// Half of what a key remembers of requests and erased values.
constexpr Millis kTimeoutMax = std::chrono::minutes{5};

StoreAnswer no_answer(const Error& error) { return {Unexpected{StoreError{error}}, Earlier::open}; }

}  // namespace

RedisStore::RedisStore(Env& env, const std::shared_ptr<RedisPort>& port, StoreSettings settings)
    : TaskStore{env, port}, port_{port.get()}, settings_{std::move(settings)} {
  settings_.timeout = std::min(settings_.timeout, kTimeoutMax);
}

Task<StoreResult> RedisStore::settle(const StoreRequest& request) {
  // Braces around nothing do not keep together what belongs to a key.
  if (settings_.spread != Spread::one_server && request.key.starts_with('}')) {
    Error error{Errc::invalid_argument,
                "the key begins with }, which a Redis cluster cannot keep in one slot",
                "use a key that begins otherwise"};
    co_return Unexpected{StoreError{std::move(error)}};
  }
  const TimePoint answer_by = env().now() + settings_.timeout;
  const StoreTicket ticket{
      .id = std::to_string(env().draw()), .timeout = settings_.timeout, .who = settings_.who};
  // Repeated, once an attempt is out of which nobody knows if it was done.
  Attempt next = Attempt::first;
  SharedCall call = share(to_call(request, settings_.prefix, ticket, next));
  for (std::uint32_t attempt = 0;; ++attempt) {
    const auto reply = co_await port_->eval(call, answer_by);
    StoreAnswer answer = reply ? read_store_answer(request, *reply) : no_answer(reply.error());
    const bool settled = next == Attempt::first || answer.earlier == Earlier::settled;
    if (reply && settled) co_return std::move(answer.result);
    const Errc code = answer.result.error().code;
    if (code == Errc::unknown_outcome && next == Attempt::first) {
      next = Attempt::repeated;
      call = share(to_call(request, settings_.prefix, ticket, next));
    }
    // A server that is loading, for one, can tell a little later.
    const bool may_help = code == Errc::unknown_outcome || code == Errc::unavailable;
    const Duration delay = backoff_delay(settings_.retry, attempt, env().draw());
    if (!may_help || env().now() + delay >= answer_by) {
      if (next == Attempt::repeated) answer.result = Unexpected{core::unanswered(request)};
      co_return std::move(answer.result);
    }
    co_await env().sleep_for(delay);
  }
}

}  // namespace holdfast::redis
