// The store's database: one table of entries, each a value with what fences it.
//
// Thread safety: none; see local_store.h.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/fence.h"
#include "core/store_backend.h"
#include "engines/local/store_schema.h"

namespace holdfast::local {

/// One row.
struct Row {
  /// Empty: erased, and the fence kept.
  std::optional<std::string> value{};
  Version version{0};
  std::optional<core::Fence> fence{};
  /// Wall clock, milliseconds since 1970.
  std::optional<std::int64_t> expires_ms{};
};

/// One connection with its statements.
class StoreFile {
 public:
  /// Opens or creates `<directory>/store.db`. corrupt: it is damaged, foreign, or of a newer
  /// version; it is left as it is.
  static Result<std::unique_ptr<StoreFile>, StoreError> open(const std::string& directory,
                                                             const StoreSettings& settings);

  /// What is stored. A value that has expired is not there; its fence still is.
  Result<std::optional<Row>, StoreError> load(Space space, std::string_view key);
  /// Inserts or replaces. The version of the row is ignored: a new one is given, and returned.
  Result<Version, StoreError> save(Space space, std::string_view key, const Row& row);
  /// As save(), where the value stays as it is; unless it has expired. Then it goes. Without a
  /// value the fence is no longer swept: its holder is at work.
  Result<void, StoreError> save_fence(Space space, std::string_view key, const core::Fence& fence);
  /// Removes the row; its key goes on with higher versions.
  Result<void, StoreError> remove(Space space, std::string_view key);
  /// Removes some of what has expired.
  Result<void, StoreError> sweep();

  /// The next operation of an opened exclusive holder, in one statement. Nothing: it is not that
  /// simple, and nothing was done.
  Result<std::optional<Version>, StoreError> write_next(Space space,
                                                        std::string_view key,
                                                        const WriteResource& write);
  /// A put without a condition, in one statement. Nothing: the key is fenced.
  Result<std::optional<Version>, StoreError> put(Space space,
                                                 std::string_view key,
                                                 std::string_view value);
  /// A put of a key at exactly this version, in one statement. Nothing: it is not there.
  Result<std::optional<Version>, StoreError> put_at(Space space,
                                                    std::string_view key,
                                                    std::string_view value,
                                                    Version version);

  Database& database() { return *database_; }

  /// One transaction that may write. Rolled back unless commit() succeeds.
  class Transaction {
   public:
    /// Begins an operation of the database, too.
    static Result<Transaction, StoreError> begin(StoreFile& file);
    ~Transaction();
    Transaction(Transaction&& other) noexcept : file_{std::exchange(other.file_, nullptr)} {}
    Transaction& operator=(Transaction&&) = delete;
    Result<void, StoreError> commit();

   private:
    explicit Transaction(StoreFile& file) : file_{&file} {}
    StoreFile* file_;
  };

 private:
  enum class Sql : std::uint8_t {
    load,
    save,
    save_fence,
    raise_floor,
    remove,
    raise_floor_to_expired,
    remove_expired,
    write_next,
    put,
    put_at,
    begin,
    commit,
    rollback,
  };

  StoreFile(std::unique_ptr<Database> database, std::vector<Statement> statements)
      : database_{std::move(database)}, statements_{std::move(statements)} {}

  /// With its first two parameters bound, which are the same for all.
  Statement& statement(Sql sql, Space space, std::string_view key);

  std::unique_ptr<Database> database_;
  std::vector<Statement> statements_;
};

}  // namespace holdfast::local
