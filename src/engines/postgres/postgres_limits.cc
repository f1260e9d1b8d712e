#include "engines/postgres/postgres_limits.h"

#include <utility>

#include "base/decimal.h"
#include "engines/postgres/lease_answers.h"
#include "engines/postgres/refusal_error.h"

namespace holdfast::postgres {
namespace {

/// What the server answered, as decide() has it.
Result<RateDecision> read_taken(const Answer& answer, const core::Take& take) {
  if (const auto* refusal = std::get_if<Refusal>(&answer)) return Unexpected{error_of(*refusal)};
  const Rows& rows = std::get<Rows>(answer);
  if (rows.size() == 1 && rows[0].size() == 2 && rows[0][0] && rows[0][1]) {
    const auto ahead = parse_decimal<std::int64_t>(*rows[0][1]);
    if (ahead && *ahead >= 0) {
      const RateDecision decision = core::decide(take, Duration{*ahead});
      if (decision.allowed == (*rows[0][0] == "t")) return decision;
    }
  }
  return senseless("take");
}

}  // namespace

Task<Result<RateDecision>> PostgresLimits::reserve(std::string key,
                                                   core::Take take,
                                                   TimePoint answer_by) {
  const SharedCall call = share({.statement = &kTakeStatement,
                                 .args = {prefix_ + key,
                                          std::to_string(take.tolerance.count()),
                                          std::to_string(take.cost.count()),
                                          std::to_string(take.wait.count())}});
  const auto answer = co_await port_->answered(call, answer_by);
  if (!answer) co_return Unexpected{answer.error()};
  co_return read_taken(*answer, take);
}

}  // namespace holdfast::postgres
