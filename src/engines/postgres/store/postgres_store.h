// PostgresStore: the store in a PostgreSQL database, each operation one function (schema/).
//
// A request that was not answered is repeated until the timeout under the same id, by which the row
// knows it again: the effect comes once. What cannot be settled is unknown_outcome.
//
// What can be lost: the last changes and marks, when a replica is promoted that was not
// synchronous. Then an old holder may be let in until a newer one opens the resource again.
//
// Thread safety and lifetime: as TaskStore.

#pragma once

#include <memory>
#include <string>

#include "base/backoff.h"
#include "base/env.h"
#include "core/task_store.h"
#include "engines/postgres/postgres_port.h"

namespace holdfast::postgres {

struct StoreSettings {
  /// Begins every key.
  std::string prefix{"hf/"};
  /// How long an operation takes at most. More than 5 minutes count as that.
  Millis timeout{5000};
  /// How an unanswered request is repeated.
  BackoffPolicy retry{.first = Millis{20}, .max = Millis{500}};
  /// Who this is, for the record of what administrators do.
  std::string who{};
};

class PostgresStore final : public core::TaskStore {
 public:
  PostgresStore(Env& env, const std::shared_ptr<PostgresPort>& port, StoreSettings settings);

 private:
  Task<StoreResult> settle(const StoreRequest& request) override;

  PostgresPort* port_;
  StoreSettings settings_;
};

}  // namespace holdfast::postgres
