#include <algorithm>

#include "base/invalid.h"
#include "core/limits.h"
#include "engines/postgres/advisory/advisory_key.h"
#include "engines/postgres/callers/caller_error.h"

namespace holdfast::postgres {
namespace {

Result<Token, AcquireError> to_token(const Rows& rows) {
  if (rows.size() != 1 || rows[0].size() != 1 || !rows[0][0]) {
    return Unexpected{AcquireError{Errc::corrupt, "the schema's answer makes no sense"}};
  }
  return Token{std::stoull(*rows[0][0])};
}

/// NULL: without end.
Value wait_ms(Millis wait) {
  if (wait == Millis::max()) return std::nullopt;
  // What PostgreSQL takes at most: 24 days.
  constexpr Millis::rep kMost = 2'147'483'647;
  return std::to_string(std::clamp(wait.count(), Millis::rep{0}, kMost));
}

std::string_view clause(RowWait wait) {
  switch (wait) {
    case RowWait::wait:
      return " FOR UPDATE";
    case RowWait::nowait:
      return " FOR UPDATE NOWAIT";
    case RowWait::skip_locked:
      break;
  }
  return " FOR UPDATE SKIP LOCKED";
}

/// What fails inside of it leaves the transaction as it was.
class Savepoint {
 public:
  explicit Savepoint(Transaction& transaction) : transaction_{transaction} {}

  Result<Rows, SqlError> begin() { return transaction_.run("SAVEPOINT holdfast_rows", {}); }
  Result<Rows, SqlError> keep() { return transaction_.run("RELEASE SAVEPOINT holdfast_rows", {}); }
  Result<Rows, SqlError> undo() {
    auto undone = transaction_.run("ROLLBACK TO SAVEPOINT holdfast_rows", {});
    return undone ? keep() : undone;
  }

 private:
  Transaction& transaction_;
};

Result<Rows, SqlError> select_now(Transaction& transaction,
                                  const std::string& sql,
                                  const std::vector<Value>& params) {
  Savepoint savepoint{transaction};
  if (auto begun = savepoint.begin(); !begun) return begun;
  auto rows = transaction.run(sql, params);
  const auto ended = rows ? savepoint.keep() : savepoint.undo();
  return ended ? rows : ended;
}

}  // namespace

Result<Token, AcquireError> lock_advisory_xact(Transaction& transaction,
                                               std::string_view name,
                                               const XactLockOptions& options) {
  if (auto good = core::check_name(name); !good) return Unexpected{AcquireError{good.error()}};
  if (options.mode == holdfast::Mode::permit) {
    return Unexpected{AcquireError{
        Errc::unsupported, "advisory locks have no permits", "use mode=lease of postgres://"}};
  }
  const std::string key = std::to_string(advisory_key(options.prefix, name));
  const bool shared = options.mode == holdfast::Mode::shared;
  const auto rows = transaction.run("SELECT holdfast.lock_xact($1, $2, $3)",
                                    {key, shared ? "t" : "f", wait_ms(options.wait)});
  if (!rows) return Unexpected{to_acquire_error(rows.error())};
  if (rows->size() == 1 && (*rows)[0] == Row{std::nullopt}) {
    const bool waited = options.wait > Millis{0};
    return Unexpected{AcquireError{waited ? Errc::timeout : Errc::busy,
                                   "another transaction or session has the lock"}};
  }
  return to_token(*rows);
}

Result<LockedRows, AcquireError> lock_rows(Transaction& transaction,
                                           const std::string& select,
                                           const std::vector<Value>& params,
                                           RowWait wait) {
  const std::string sql = select + std::string{clause(wait)};
  auto rows =
      wait == RowWait::nowait ? select_now(transaction, sql, params) : transaction.run(sql, params);
  if (!rows) return Unexpected{to_acquire_error(rows.error())};
  if (rows->empty()) {
    return Unexpected{AcquireError{Errc::not_found, "there is no such row, or none that is free"}};
  }
  const auto minted = transaction.run("SELECT holdfast.mint_ahead()", {});
  if (!minted) return Unexpected{to_acquire_error(minted.error())};
  auto token = to_token(*minted);
  if (!token) return Unexpected{std::move(token).error()};
  return LockedRows{.token = *token, .rows = *std::move(rows)};
}

}  // namespace holdfast::postgres
