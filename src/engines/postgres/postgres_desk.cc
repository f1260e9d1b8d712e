#include "engines/postgres/postgres_desk.h"

#include <utility>

#include "base/decimal.h"
#include "core/validity.h"
#include "engines/postgres/lease_answers.h"
#include "engines/postgres/lease_statements.h"
#include "engines/postgres/refusal_error.h"

namespace holdfast::postgres {
namespace {

constexpr Millis kBellTimeout{5'000};

/// Of a statement that changes nothing: whether it ran makes no difference.
Result<Rows> looked(Result<Answer> answer) {
  auto rows = rows_of(std::move(answer));
  if (!rows && rows.error().code == Errc::unknown_outcome) rows.error().code = Errc::unavailable;
  return rows;
}

/// Rows of list, which are in order of names, as locks; without the prefix that all names have.
Result<std::vector<LockInfo>> read_list(Rows rows, std::size_t prefix_size) {
  std::vector<LockInfo> locks;
  for (std::size_t at = 0; at < rows.size();) {
    const Value name = rows[at].empty() ? std::nullopt : rows[at][0];
    if (!name || name->size() < prefix_size) return senseless("list");
    std::vector<Row> of_it;
    for (; at < rows.size() && !rows[at].empty() && rows[at][0] == name; ++at) {
      of_it.emplace_back(rows[at].begin() + 1, rows[at].end());
    }
    locks.push_back(read_lock(name->substr(prefix_size), of_it));
  }
  return locks;
}

}  // namespace

PostgresDesk::PostgresDesk(Env& env,
                           std::shared_ptr<PostgresPort> port,
                           std::shared_ptr<PostgresEngine> engine,
                           std::string prefix)
    : env_{env},
      port_{std::move(port)},
      engine_{std::move(engine)},
      prefix_{std::move(prefix)},
      bell_{std::make_shared<ChangeBell>(env_, port_, kBellTimeout)} {}

Task<Result<LockInfo>> PostgresDesk::inspect(LockName name, TimePoint answer_by) {
  const auto self = shared_from_this();
  const SharedCall call = share({.statement = &kInspectStatement, .args = {stored(name)}});
  auto answer = co_await port_->answered(call, answer_by);
  const auto rows = looked(std::move(answer));
  if (!rows) co_return Unexpected{rows.error()};
  co_return read_lock(name.text(), *rows);
}

Task<Result<std::vector<LockInfo>>> PostgresDesk::list(std::string prefix, TimePoint answer_by) {
  const auto self = shared_from_this();
  const SharedCall call = share({.statement = &kListStatement, .args = {prefix_ + prefix}});
  auto answer = co_await port_->answered(call, answer_by);
  auto rows = looked(std::move(answer));
  if (!rows) co_return Unexpected{rows.error()};
  co_return read_list(*std::move(rows), prefix_.size());
}

Task<Result<BreakReport>> PostgresDesk::break_lock(LockName name,
                                                   std::string why,
                                                   TimePoint answer_by) {
  const auto self = shared_from_this();
  const SharedCall call = share({.statement = &kBreakStatement, .args = {stored(name), why}});
  auto answer = co_await port_->answered(call, answer_by);
  const auto rows = rows_of(std::move(answer));
  if (!rows) co_return Unexpected{rows.error()};
  if (rows->empty()) {
    co_return Unexpected{Error{Errc::not_found, "nobody holds the lock " + name.text()}};
  }
  BreakReport report;
  for (const Row& row : *rows) {
    if (row.size() != 3) co_return senseless("break");
    // Nobody held it, and it was closed because one vanished.
    if (!row[0]) continue;
    report.holders.push_back(holder_of(*row[0], row[1].value_or(""), row[2].value_or("")));
  }
  co_return report;
}

Task<Result<Duration>> PostgresDesk::extend(LockName name,
                                            Owner owner,
                                            Millis ttl,
                                            TimePoint answer_by) {
  const auto self = shared_from_this();
  const TimePoint sent_at = env_.now();
  const SharedCall call =
      share({.statement = &kExtendStatement,
             .args = {stored(name), owner.to_string(), std::to_string(ttl.count())}});
  auto answer = co_await port_->answered(call, answer_by);
  const auto rows = rows_of(std::move(answer));
  if (!rows) co_return Unexpected{rows.error()};
  if (rows->size() != 1 || rows->front().size() != 1) co_return senseless("extend");
  const Value& left = rows->front()[0];
  if (!left) {
    co_return Unexpected{Error{Errc::lost, "that owner does not hold the lock " + name.text()}};
  }
  const Millis lasts{parse_decimal<std::int64_t>(*left).value_or(0)};
  co_return core::deadline_of(sent_at, lasts) - sent_at;
}

Task<Result<ReleaseOutcome>> PostgresDesk::release(LockName name,
                                                   Owner owner,
                                                   TimePoint answer_by) {
  const auto self = shared_from_this();
  co_return co_await engine_->release(std::move(name), owner, answer_by);
}

std::unique_ptr<core::LockEar> PostgresDesk::listen(LockName name,
                                                    std::function<void()> on_change) {
  return bell_->listen(stored(name), std::move(on_change));
}

void PostgresDesk::announce(LockName name) { bell_->ring(stored(name)); }

}  // namespace holdfast::postgres
