// SQLite, with owners for its handles and values for its errors.
//
// Thread safety: none; whoever shares a Database holds a mutex.

#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "holdfast/clock.h"
#include "holdfast/result.h"
#include "holdfast/store_types.h"

namespace holdfast::local {

class Database {
 public:
  /// Waits that long for other processes before it is unavailable.
  /// A new file gets the permissions of the file `locks` beside it, if there is one.
  static Result<std::unique_ptr<Database>, StoreError> open(const std::string& path,
                                                            Millis patience);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Statements without results.
  Result<void, StoreError> execute(const char* sql);

  /// What SQLite says went wrong last: corrupt, no_space, denied, unavailable, io_error.
  StoreError error() const;

  /// The patience begins anew. corrupt: the file was deleted or replaced since it was opened, so
  /// that others no longer see what is done here. Noticed within a moment, not at once.
  Result<void, StoreError> begin_operation();
  /// Waits a moment. False when the patience is at its end.
  bool may_wait(std::uint32_t attempt = 8);

  sqlite3* handle() const { return handle_; }

  /// Leaves the file as it is when it is closed, even by the last who had it open. For a forked
  /// child, who has the parent's handle but none of its locks.
  void close_quietly();

 private:
  Database(std::string path, Millis patience) : path_{std::move(path)}, patience_{patience} {}

  static int on_busy(void* self, int attempt);

  std::string path_;
  Millis patience_;
  TimePoint give_up_{};
  TimePoint next_look_{};
  sqlite3* handle_{nullptr};
};

/// A prepared statement. Parameters and columns count as SQLite counts them: from 1 and from 0.
class Statement {
 public:
  static Result<Statement, StoreError> prepare(Database& database, const char* sql);

  /// Views must outlive the next step(). Chainable.
  Statement& bind(int at, std::int64_t value);
  Statement& bind(int at, std::uint64_t value) {
    return bind(at, static_cast<std::int64_t>(value));
  }
  Statement& bind(int at, Token token) { return bind(at, token.value()); }
  Statement& bind_text(int at, std::string_view value);
  Statement& bind_blob(int at, std::string_view value);
  Statement& bind_null(int at);

  /// Whether there is a row. An error resets the statement.
  Result<bool, StoreError> step();
  /// Ends the statement, and with it the transaction when it has one of its own.
  Result<void, StoreError> finish();

  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  std::uint64_t natural(int column) const { return static_cast<std::uint64_t>(integer(column)); }
  std::string bytes(int column) const;
  std::string_view view(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };

  Statement(Database& database, sqlite3_stmt* statement)
      : database_{&database}, statement_{statement} {}

  Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

}  // namespace holdfast::local
