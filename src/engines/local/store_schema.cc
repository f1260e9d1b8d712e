#include "engines/local/store_schema.h"

#include <string>

namespace holdfast::local {
namespace {

constexpr int kApplicationId = 0x484f4c44;  // "HOLD"
constexpr int kFormat = 1;

// A fenced row keeps its marks when its value is erased. `floor` is the highest version that was
// ever removed, so that a key that comes back goes on above it.
constexpr const char* kSchema = R"sql(
CREATE TABLE entry(
  id INTEGER PRIMARY KEY,
  space INTEGER NOT NULL,
  key TEXT NOT NULL,
  value BLOB,
  version INTEGER NOT NULL,
  expires_ms INTEGER,
  domain TEXT,
  policy INTEGER,
  exclusive INTEGER,
  exclusive_owner TEXT,
  any_token INTEGER,
  any_owner TEXT,
  sequence INTEGER,
  written INTEGER,
  written_sequence INTEGER,
  UNIQUE(key, space));
CREATE INDEX entry_expires ON entry(expires_ms) WHERE expires_ms IS NOT NULL;
CREATE TABLE floor(version INTEGER NOT NULL);
INSERT INTO floor VALUES(0);
)sql";

Result<std::int64_t, StoreError> pragma(Database& database, const char* sql) {
  auto statement = Statement::prepare(database, sql);
  if (!statement) return Unexpected{std::move(statement).error()};
  auto row = statement->step();
  if (!row) return Unexpected{std::move(row).error()};
  return *row ? statement->integer(0) : std::int64_t{0};
}

Unexpected<StoreError> foreign(const std::string& path) {
  return Unexpected{StoreError{Errc::corrupt,
                               path + " was not made by Holdfast, or by a newer version of it",
                               "use a newer holdfast, or move the file away"}};
}

enum class Contents { none, ours };

/// Within a transaction. corrupt: a file of another program, or of a newer Holdfast.
Result<Contents, StoreError> look_at(Database& database, const std::string& path) {
  const auto format = pragma(database, "PRAGMA user_version");
  if (!format) return Unexpected{format.error()};
  const auto application = pragma(database, "PRAGMA application_id");
  if (!application) return Unexpected{application.error()};
  if (*application == kApplicationId && *format == kFormat) return Contents::ours;
  const auto tables = pragma(database, "SELECT count(*) FROM sqlite_schema");
  if (!tables) return Unexpected{tables.error()};
  if (*application == 0 && *format == 0 && *tables == 0) return Contents::none;
  return foreign(path);
}

/// Changes nothing: the file may be somebody else's.
Result<Contents, StoreError> look_first(Database& database, const std::string& path) {
  if (auto begun = database.execute("BEGIN"); !begun) return Unexpected{begun.error()};
  auto contents = look_at(database, path);
  if (!contents) return contents;
  if (auto ended = database.execute("ROLLBACK"); !ended) return Unexpected{ended.error()};
  return contents;
}

Result<void, StoreError> create_tables(Database& database, const std::string& path) {
  if (auto begun = database.execute("BEGIN IMMEDIATE"); !begun) return begun;
  // Somebody else may have been quicker.
  const auto contents = look_at(database, path);
  if (!contents) return Unexpected{contents.error()};
  if (*contents == Contents::none) {
    if (auto made = database.execute(kSchema); !made) return made;
    const std::string stamp = "PRAGMA application_id=" + std::to_string(kApplicationId) +
                              "; PRAGMA user_version=" + std::to_string(kFormat);
    if (auto stamped = database.execute(stamp.c_str()); !stamped) return stamped;
  }
  return database.execute("COMMIT");
}

/// SQLite does not always wait here for others who do the same.
Result<void, StoreError> use_wal(Database& database) {
  auto set = database.execute("PRAGMA journal_mode=WAL");
  while (!set && set.error().code == Errc::unavailable && database.may_wait()) {
    set = database.execute("PRAGMA journal_mode=WAL");
  }
  return set;
}

}  // namespace

std::string_view to_string(Sync sync) noexcept {
  switch (sync) {
    case Sync::full:
      return "full";
    case Sync::normal:
      return "normal";
    case Sync::off:
      return "off";
  }
  return "full";
}

std::optional<Sync> parse_sync(std::string_view text) noexcept {
  for (const Sync sync : {Sync::full, Sync::normal, Sync::off}) {
    if (to_string(sync) == text) return sync;
  }
  return std::nullopt;
}

Result<std::unique_ptr<Database>, StoreError> open_store_database(const std::string& path,
                                                                  const StoreSettings& settings) {
  auto database = Database::open(path, settings.timeout);
  if (!database) return database;
  const auto contents = look_first(**database, path);
  if (!contents) return Unexpected{contents.error()};
  if (auto set = use_wal(**database); !set) return Unexpected{std::move(set).error()};
  const std::string sync = "PRAGMA synchronous=" + std::string{to_string(settings.sync)};
  if (auto set = (*database)->execute(sync.c_str()); !set) {
    return Unexpected{std::move(set).error()};
  }
  if (*contents == Contents::none) {
    if (auto made = create_tables(**database, path); !made) {
      return Unexpected{std::move(made).error()};
    }
  }
  return database;
}

}  // namespace holdfast::local
