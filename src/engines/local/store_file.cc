#include "engines/local/store_file.h"

#include <array>
#include <utility>

#include "base/wall_clock.h"

namespace holdfast::local {
namespace {

constexpr const char* kLoad =
    "SELECT value, version, expires_ms, domain, policy, exclusive, exclusive_owner, any_token,"
    " any_owner, sequence, written, written_sequence FROM entry WHERE key=?1 AND space=?2";
constexpr const char* kSave =
    "INSERT INTO entry(key, space, value, version, expires_ms, domain, policy, exclusive,"
    " exclusive_owner, any_token, any_owner, sequence, written, written_sequence)"
    " VALUES(?1, ?2, ?3, (SELECT version FROM floor)+1, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"
    " ON CONFLICT(key, space) DO UPDATE SET value=excluded.value, version=version+1,"
    " expires_ms=excluded.expires_ms, domain=excluded.domain, policy=excluded.policy,"
    " exclusive=excluded.exclusive, exclusive_owner=excluded.exclusive_owner,"
    " any_token=excluded.any_token, any_owner=excluded.any_owner, sequence=excluded.sequence,"
    " written=excluded.written, written_sequence=excluded.written_sequence RETURNING version";
constexpr const char* kSaveFence =
    "INSERT INTO entry(key, space, version, domain, policy, exclusive, exclusive_owner, any_token,"
    " any_owner, sequence, written, written_sequence)"
    " VALUES(?1, ?2, (SELECT version FROM floor)+1, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"
    " ON CONFLICT(key, space) DO UPDATE SET"
    " value=CASE WHEN expires_ms<=?3 THEN NULL ELSE value END,"
    " expires_ms=CASE WHEN expires_ms<=?3 OR value IS NULL THEN NULL ELSE expires_ms END,"
    " domain=excluded.domain, policy=excluded.policy, exclusive=excluded.exclusive, "
    "exclusive_owner=excluded.exclusive_owner,"
    " any_token=excluded.any_token, any_owner=excluded.any_owner, sequence=excluded.sequence,"
    " written=excluded.written, written_sequence=excluded.written_sequence";
constexpr const char* kRaiseFloor =
    "UPDATE floor SET version=max(version, (SELECT version FROM entry WHERE key=?1 AND space=?2))";
constexpr const char* kRemove = "DELETE FROM entry WHERE key=?1 AND space=?2";
constexpr const char* kRaiseFloorToExpired =
    "UPDATE floor SET version=max(version, (SELECT coalesce(max(version), 0) FROM"
    " (SELECT version FROM entry WHERE expires_ms<?1 ORDER BY expires_ms LIMIT 8)))";
constexpr const char* kRemoveExpired =
    "DELETE FROM entry WHERE id IN"
    " (SELECT id FROM entry WHERE expires_ms<?1 ORDER BY expires_ms LIMIT 8)";
// The conditions are those under which core::decide_write() lets an opened exclusive holder pass.
constexpr const char* kWriteNext =
    "UPDATE entry SET value=?3, version=version+1, sequence=?4, written=?5,"
    " written_sequence=?4"
    " WHERE key=?1 AND space=?2 AND sequence<?4 AND exclusive=?5 AND any_token=?5"
    " AND exclusive_owner=?6 AND domain=?7 AND expires_ms IS NULL"
    " AND (policy=0 OR written<>?5) RETURNING version";
constexpr const char* kPut =
    "INSERT INTO entry(key, space, value, version)"
    " VALUES(?1, ?2, ?3, (SELECT version FROM floor)+1)"
    " ON CONFLICT(key, space) DO UPDATE SET value=excluded.value, version=version+1"
    " WHERE domain IS NULL RETURNING version";
constexpr const char* kPutAt =
    "UPDATE entry SET value=?3, version=version+1"
    " WHERE key=?1 AND space=?2 AND version=?4 AND domain IS NULL RETURNING version";

/// In the order of StoreFile::Sql.
constexpr std::array kStatements{kLoad,
                                 kSave,
                                 kSaveFence,
                                 kRaiseFloor,
                                 kRemove,
                                 kRaiseFloorToExpired,
                                 kRemoveExpired,
                                 kWriteNext,
                                 kPut,
                                 kPutAt,
                                 "BEGIN IMMEDIATE",
                                 "COMMIT",
                                 "ROLLBACK"};

/// The fence outlives the next step: its strings are bound by reference.
void bind_fence(Statement& statement, const core::Fence* fence) {
  if (fence == nullptr) {
    for (int at = 5; at <= 13; ++at) statement.bind_null(at);
    return;
  }
  statement.bind_text(5, fence->domain)
      .bind(6, static_cast<std::int64_t>(fence->policy))
      .bind(7, fence->exclusive.token)
      .bind_text(8, fence->exclusive.owner_fp)
      .bind(9, fence->any.token)
      .bind_text(10, fence->any.owner_fp)
      .bind(11, fence->sequence)
      .bind(12, fence->written)
      .bind(13, fence->written_sequence);
}

Row read_row(const Statement& statement) {
  Row row{.value = {}, .version = Version{statement.natural(1)}, .fence = {}, .expires_ms = {}};
  if (!statement.is_null(0)) row.value = statement.bytes(0);
  if (!statement.is_null(2)) row.expires_ms = statement.integer(2);
  if (statement.is_null(3)) return row;
  row.fence =
      core::Fence{.domain = statement.bytes(3),
                  .policy = statement.integer(4) == 0 ? WritePolicy::many : WritePolicy::strict,
                  .exclusive = {Token{statement.natural(5)}, statement.bytes(6)},
                  .any = {Token{statement.natural(7)}, statement.bytes(8)},
                  .sequence = statement.natural(9),
                  .written = Token{statement.natural(10)},
                  .written_sequence = statement.natural(11)};
  return row;
}

/// Runs a statement that returns at most one number.
Result<std::optional<Version>, StoreError> version_of(Statement& statement) {
  const auto row = statement.step();
  if (!row) return Unexpected{row.error()};
  std::optional<Version> version;
  if (*row) version = Version{statement.natural(0)};
  // One more step: with RETURNING the change is made at the first, and committed at the last.
  if (*row) {
    if (auto done = statement.step(); !done) return Unexpected{std::move(done).error()};
  }
  if (auto finished = statement.finish(); !finished) return Unexpected{finished.error()};
  return version;
}

Result<void, StoreError> run(Statement& statement) {
  if (auto stepped = statement.step(); !stepped) return Unexpected{std::move(stepped).error()};
  return statement.finish();
}

}  // namespace

Result<std::unique_ptr<StoreFile>, StoreError> StoreFile::open(const std::string& directory,
                                                               const StoreSettings& settings) {
  auto database = open_store_database(directory + "/store.db", settings);
  if (!database) return Unexpected{std::move(database).error()};
  std::vector<Statement> statements;
  for (const char* sql : kStatements) {
    auto statement = Statement::prepare(**database, sql);
    if (!statement) return Unexpected{std::move(statement).error()};
    statements.push_back(std::move(*statement));
  }
  return std::unique_ptr<StoreFile>{new StoreFile{std::move(*database), std::move(statements)}};
}

Statement& StoreFile::statement(Sql sql, Space space, std::string_view key) {
  return statements_[static_cast<std::size_t>(sql)].bind_text(1, key).bind(
      2, static_cast<std::int64_t>(space));
}

Result<std::optional<Row>, StoreError> StoreFile::load(Space space, std::string_view key) {
  Statement& load = statement(Sql::load, space, key);
  const auto found = load.step();
  if (!found) return Unexpected{found.error()};
  std::optional<Row> row;
  if (*found) row = read_row(load);
  if (auto finished = load.finish(); !finished) return Unexpected{std::move(finished).error()};
  if (row && row->expires_ms && *row->expires_ms <= wall_ms()) row->value.reset();
  return row;
}

Result<Version, StoreError> StoreFile::save(Space space, std::string_view key, const Row& row) {
  Statement& save = statement(Sql::save, space, key);
  row.value ? save.bind_blob(3, *row.value) : save.bind_null(3);
  row.expires_ms ? save.bind(4, *row.expires_ms) : save.bind_null(4);
  bind_fence(save, row.fence ? &*row.fence : nullptr);
  auto version = version_of(save);
  if (!version) return Unexpected{std::move(version).error()};
  return version->value_or(Version::absent());
}

Result<void, StoreError> StoreFile::save_fence(Space space,
                                               std::string_view key,
                                               const core::Fence& fence) {
  Statement& save = statement(Sql::save_fence, space, key);
  save.bind(3, wall_ms());
  bind_fence(save, &fence);
  return run(save);
}

Result<void, StoreError> StoreFile::remove(Space space, std::string_view key) {
  if (auto raised = run(statement(Sql::raise_floor, space, key)); !raised) return raised;
  return run(statement(Sql::remove, space, key));
}

Result<void, StoreError> StoreFile::sweep() {
  const std::int64_t now = wall_ms();
  for (const Sql sql : {Sql::raise_floor_to_expired, Sql::remove_expired}) {
    Statement& step = statements_[static_cast<std::size_t>(sql)];
    if (auto done = run(step.bind(1, now)); !done) return done;
  }
  return {};
}

Result<std::optional<Version>, StoreError> StoreFile::write_next(Space space,
                                                                 std::string_view key,
                                                                 const WriteResource& write) {
  Statement& next = statement(Sql::write_next, space, key);
  write.value ? next.bind_blob(3, *write.value) : next.bind_null(3);
  next.bind(4, write.sequence.value_or(0))
      .bind(5, write.holder.token)
      .bind_text(6, write.holder.owner_fp)
      .bind_text(7, write.holder.domain);
  return version_of(next);
}

Result<std::optional<Version>, StoreError> StoreFile::put(Space space,
                                                          std::string_view key,
                                                          std::string_view value) {
  return version_of(statement(Sql::put, space, key).bind_blob(3, value));
}

Result<std::optional<Version>, StoreError> StoreFile::put_at(Space space,
                                                             std::string_view key,
                                                             std::string_view value,
                                                             Version version) {
  return version_of(
      statement(Sql::put_at, space, key).bind_blob(3, value).bind(4, version.value()));
}

Result<StoreFile::Transaction, StoreError> StoreFile::Transaction::begin(StoreFile& file) {
  if (auto begun = file.database().begin_operation(); !begun) {
    return Unexpected{std::move(begun).error()};
  }
  if (auto begun = run(file.statements_[static_cast<std::size_t>(Sql::begin)]); !begun) {
    return Unexpected{std::move(begun).error()};
  }
  return Transaction{file};
}

StoreFile::Transaction::~Transaction() {
  // Some errors have rolled back already.
  if (file_ == nullptr || sqlite3_get_autocommit(file_->database_->handle()) != 0) return;
  static_cast<void>(run(file_->statements_[static_cast<std::size_t>(Sql::rollback)]));
}

Result<void, StoreError> StoreFile::Transaction::commit() {
  auto committed = run(file_->statements_[static_cast<std::size_t>(Sql::commit)]);
  if (committed) file_ = nullptr;
  return committed;
}

}  // namespace holdfast::local
