// PostgresLimits: rate limits in a PostgreSQL database, each decision one statement.
//
// A request that was not answered is not repeated: its permits may be spent.
//
// Thread safety: as Env. Lifetime: the Env outlives it.

#pragma once

#include <memory>
#include <string>

#include "core/limit_desk.h"
#include "engines/postgres/postgres_port.h"

namespace holdfast::postgres {

/// $1 key, $2 tolerance, $3 cost, $4 wait, all three in nanoseconds. One row: `t` or `f`, granted
/// or not, and how far ahead the key was.
inline constexpr Statement kTakeStatement{"holdfast_take",
                                          "SELECT * FROM holdfast.take($1, $2, $3, $4)"};

class PostgresLimits final : public core::LimitDesk {
 public:
  PostgresLimits(std::shared_ptr<PostgresPort> port, std::string prefix)
      : port_{std::move(port)}, prefix_{std::move(prefix)} {}

  Task<Result<RateDecision>> reserve(std::string key,
                                     core::Take take,
                                     TimePoint answer_by) override;

 private:
  std::shared_ptr<PostgresPort> port_;
  std::string prefix_;
};

}  // namespace holdfast::postgres
