#include "engines/postgres/store/postgres_store.h"

#include <algorithm>
#include <utility>

#include "engines/postgres/store/store_answer.h"
#include "engines/postgres/store/store_call.h"

namespace holdfast::postgres {

PostgresStore::PostgresStore(Env& env,
                             const std::shared_ptr<PostgresPort>& port,
                             StoreSettings settings)
    : TaskStore{env, port}, port_{port.get()}, settings_{std::move(settings)} {
  settings_.timeout = std::min(settings_.timeout, core::kRepetitionMax);
}

Task<StoreResult> PostgresStore::settle(const StoreRequest& request) {
  core::StoreRepetition repetition{env(), request, settings_.timeout, settings_.retry};
  const StoreTicket ticket{
      .id = repetition.id(), .timeout = settings_.timeout, .who = settings_.who};
  for (;;) {
    const SharedCall call = share(to_call(request, settings_.prefix, ticket, repetition.attempt()));
    const auto answer = co_await port_->answered(call, repetition.answer_by());
    if (auto result = repetition.take(read_store_answer(request, answer))) {
      co_return *std::move(result);
    }
    co_await env().sleep_for(repetition.delay());
  }
}

}  // namespace holdfast::postgres
