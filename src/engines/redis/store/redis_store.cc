#include "engines/redis/store/redis_store.h"

#include <algorithm>
#include <utility>

#include "engines/redis/store/store_answer.h"
#include "engines/redis/store/store_call.h"

namespace holdfast::redis {
namespace {

Result<core::StoreAnswer> read_answer(const StoreRequest& request, const Result<Reply>& reply) {
  if (!reply) return Unexpected{reply.error()};
  return read_store_answer(request, *reply);
}

}  // namespace

RedisStore::RedisStore(Env& env, const std::shared_ptr<RedisPort>& port, StoreSettings settings)
    : TaskStore{env, port}, port_{port.get()}, settings_{std::move(settings)} {
  settings_.timeout = std::min(settings_.timeout, core::kRepetitionMax);
}

Task<StoreResult> RedisStore::settle(const StoreRequest& request) {
  // Braces around nothing do not keep together what belongs to a key.
  if (settings_.spread != Spread::one_server && request.key.starts_with('}')) {
    Error error{Errc::invalid_argument,
                "the key begins with }, which a Redis cluster cannot keep in one slot",
                "use a key that begins otherwise"};
    co_return Unexpected{StoreError{std::move(error)}};
  }
  core::StoreRepetition repetition{env(), request, settings_.timeout, settings_.retry};
  const StoreTicket ticket{
      .id = std::to_string(repetition.id()), .timeout = settings_.timeout, .who = settings_.who};
  for (;;) {
    const SharedCall call = share(to_call(request, settings_.prefix, ticket, repetition.attempt()));
    const auto reply = co_await port_->eval(call, repetition.answer_by());
    if (auto result = repetition.take(read_answer(request, reply))) co_return *std::move(result);
    co_await env().sleep_for(repetition.delay());
  }
}

}  // namespace holdfast::redis
