// Locks, the fence and exactly-once inside a transaction of your own, on a PostgreSQL connection of
// your own.
//
//   PQexec(connection, "BEGIN");
//   holdfast::postgres::LibpqTransaction transaction{connection};
//   auto token = holdfast::postgres::lock_advisory_xact(transaction, "reports");
//
// What is taken here ends with the transaction: COMMIT or ROLLBACK releases it, and so does the end
// of the connection. It does not wait beside the transaction and needs no thread. The database
// needs Holdfast's schema: `holdfast install postgres URL`. For libpqxx there is postgres_pqxx.h.
//
// After an error with a code other than busy, timeout, not_found and invalid_argument the server
// has ended the transaction as it does after any error: roll it back.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/client.h"
#include "holdfast/sequencer.h"
#include "holdfast/store_types.h"

/// libpq's PGconn.
struct pg_conn;

namespace holdfast::postgres {

/// In PostgreSQL's text form; none: NULL.
using Value = std::optional<std::string>;
using Row = std::vector<Value>;
using Rows = std::vector<Row>;

/// What the server refused.
struct SqlError : Error {
  using Error::Error;
  SqlError(Error error) : Error{std::move(error)} {}

  /// Five characters. Empty: it was not the server that refused.
  std::string sqlstate{};
  std::string detail{};
};

/// An open transaction. Thread safety: as the connection.
class Transaction {
 public:
  virtual ~Transaction() = default;

  /// Runs one statement with the parameters $1, $2 and so on.
  virtual Result<Rows, SqlError> run(const std::string& sql, const std::vector<Value>& params) = 0;
};

/// Of libpq. Lifetime: the connection outlives it; it neither begins nor ends the transaction.
class LibpqTransaction final : public Transaction {
 public:
  explicit LibpqTransaction(pg_conn* connection) : connection_{connection} {}

  /// invalid_argument: the connection has no transaction open.
  /// unknown_outcome: the connection is gone, and with it the transaction.
  Result<Rows, SqlError> run(const std::string& sql, const std::vector<Value>& params) override;

 private:
  pg_conn* connection_;
};

/// How long to wait: Millis::max() without end, zero not at all.
struct XactLockOptions {
  holdfast::Mode mode{holdfast::Mode::exclusive};
  Millis wait = Millis::max();
  /// As the URL of the advisory engine has it: the same name is then the same lock.
  std::string_view prefix{"hf/"};
};

/// Takes the advisory lock of that name until the transaction ends. `id:N` is the very key N, which
/// pg_advisory_xact_lock(N) takes too. Taking it twice in one transaction succeeds.
///
/// The token is drawn once the lock is had. busy: somebody has it, and the wait is zero. timeout:
/// still had after the wait. invalid_argument: name, mode or transaction. unsupported: permits.
Result<Token, AcquireError> lock_advisory_xact(Transaction& transaction,
                                               std::string_view name,
                                               const XactLockOptions& options = {});

enum class RowWait : std::uint8_t {
  /// Until they are free.
  wait,
  /// busy at once when one of them is not.
  nowait,
  /// Without those that are not.
  skip_locked,
};

struct LockedRows {
  /// Higher than that of whoever had one of them before.
  Token token{0};
  Rows rows{};
};

/// Locks the rows that a SELECT finds until the transaction ends, as `FOR UPDATE` does. `select`
/// has no locking clause of its own: "SELECT id FROM jobs WHERE done = $1 ORDER BY id LIMIT 1".
///
/// busy: RowWait::nowait. not_found: no row, or, with skip_locked, none that is free.
Result<LockedRows, AcquireError> lock_rows(Transaction& transaction,
                                           const std::string& select,
                                           const std::vector<Value>& params = {},
                                           RowWait wait = RowWait::wait);

/// Registers the holder at the resource before its first read (rule 1 of the store). Its row stays
/// locked until the transaction ends. Resources are those of the store, with the engine's prefix.
/// Answers the sequence of the holder's last operation.
///
/// stale_token: with both tokens. wrong_domain: it belongs to another lock.
Result<std::uint64_t, StoreError> fence_open(Transaction& transaction,
                                             std::string_view resource,
                                             const Sequencer& holder);

/// To be asked before a write, in its transaction: the fence stays locked until the commit, so that
/// no newer holder comes between. Empty sequence: the next one.
///
/// duplicate: this operation was committed before; change nothing. stale_token: also of a token
/// that did not open the resource.
Result<Applied, StoreError> fence_check(Transaction& transaction,
                                        std::string_view resource,
                                        const Sequencer& holder,
                                        std::optional<std::uint64_t> sequence = {});

struct XactOnceOptions {
  /// How long later callers get the stored result.
  Millis keep{std::chrono::hours{24}};
};

/// Runs the function unless it was run for this key before. Key, result and whatever the function
/// does in the same transaction are committed together or not at all: exactly once. While another
/// transaction runs it, this one waits for that one's end.
///
/// An error of the function is handed back: then roll back, or nothing of this can be committed.
Result<OnceReport, StoreError> once(Transaction& transaction,
                                    std::string_view key,
                                    const std::function<Result<OnceResult>()>& function,
                                    const XactOnceOptions& options = {});

}  // namespace holdfast::postgres
