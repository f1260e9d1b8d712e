#include "engines/local/sqlite.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "base/backoff.h"
#include "base/percent.h"

namespace holdfast::local {
namespace {

/// Jitter needs no quality: the clock's low bits, mixed.
std::uint64_t draw() {
  auto mixed = static_cast<std::uint64_t>(BootClock::now().time_since_epoch().count());
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
  return mixed ^ (mixed >> 31);
}

void pause(Duration duration) {
  const auto count = std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
  const timespec time{.tv_sec = count / 1'000'000'000, .tv_nsec = count % 1'000'000'000};
  ppoll(nullptr, 0, &time, nullptr);
}

}  // namespace

Result<std::unique_ptr<Database>, StoreError> Database::open(const std::string& path,
                                                             Millis patience) {
  std::unique_ptr<Database> database{new Database{path, patience}};
  // Every connection has a mutex of ours in front.
  constexpr int kFlags =
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI;
  std::string uri = "file:" + percent_encode(path);
  const std::string locks = path.substr(0, path.find_last_of('/')) + "/locks";
  if (access(locks.c_str(), F_OK) == 0) uri += "?modeof=" + percent_encode(locks);
  const int code = sqlite3_open_v2(uri.c_str(), &database->handle_, kFlags, nullptr);
  if (code != SQLITE_OK) return Unexpected{database->error()};
  sqlite3_extended_result_codes(database->handle_, 1);
  sqlite3_busy_handler(database->handle_, &Database::on_busy, database.get());
  if (auto begun = database->begin_operation(); !begun) {
    return Unexpected{std::move(begun).error()};
  }
  return database;
}

Database::~Database() {
  if (handle_ != nullptr) sqlite3_close_v2(handle_);
}

void Database::close_quietly() {
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

int Database::on_busy(void* self, int attempt) {
  return static_cast<Database*>(self)->may_wait(static_cast<std::uint32_t>(attempt)) ? 1 : 0;
}

bool Database::may_wait(std::uint32_t attempt) {
  // Short waits: a transaction lasts microseconds without fsync, a millisecond or so with it.
  constexpr BackoffPolicy kPolicy{.first = std::chrono::microseconds{50},
                                  .max = std::chrono::milliseconds{2}};
  if (BootClock::now() >= give_up_) return false;
  pause(backoff_delay(kPolicy, attempt, draw()));
  return true;
}

Result<void, StoreError> Database::begin_operation() {
  constexpr Millis kLookEvery{50};
  const TimePoint now = BootClock::now();
  give_up_ = now + patience_;
  if (now < next_look_) return {};
  int moved = 0;
  sqlite3_file_control(handle_, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  if (moved != 0) {
    return Unexpected{StoreError{Errc::corrupt,
                                 path_ + " was deleted or replaced while in use",
                                 "start the program anew: it then shares the store with others"}};
  }
  next_look_ = now + kLookEvery;
  return {};
}

Result<void, StoreError> Database::execute(const char* sql) {
  if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return Unexpected{error()};
}

StoreError Database::error() const {
  const int code = sqlite3_extended_errcode(handle_);
  const int system = sqlite3_system_errno(handle_);
  const std::string said = path_ + ": " + sqlite3_errmsg(handle_);
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    // Somebody stopped in the middle of telling the others what it has committed.
    case SQLITE_PROTOCOL:
      return {Errc::unavailable,
              path_ + " has been locked by another process for " +
                  std::to_string(patience_.count()) + " ms",
              "look for a stopped process that uses it; or allow more time with timeout="};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
      return {Errc::corrupt,
              path_ + " is not a sound store: " + sqlite3_errmsg(handle_),
              "restore it from a backup, or move it away to begin with an empty store"};
    case SQLITE_FULL:
      return {Errc::no_space, said, "free some space; what was stored before is not affected"};
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
      return {Errc::denied,
              said,
              "give this user read and write permission on the file and its directory"};
    case SQLITE_TOOBIG:
      return {Errc::invalid_argument, said};
    default:
      break;
  }
  if (system == ENOSPC || system == EDQUOT) return {Errc::no_space, said};
  // After a failed fsync nobody knows what reached the disk.
  if (code == SQLITE_IOERR_FSYNC) return {Errc::unknown_outcome, said, "check the disk"};
  return {(code & 0xff) == SQLITE_IOERR ? Errc::io_error : Errc::internal, said};
}

Result<Statement, StoreError> Statement::prepare(Database& database, const char* sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(
      database.handle(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return Unexpected{database.error()};
  return Statement{database, statement};
}

Statement& Statement::bind(int at, std::int64_t value) {
  sqlite3_bind_int64(statement_.get(), at, value);
  return *this;
}

Statement& Statement::bind_text(int at, std::string_view value) {
  sqlite3_bind_text(
      statement_.get(), at, value.data(), static_cast<int>(value.size()), SQLITE_STATIC);
  return *this;
}

Statement& Statement::bind_blob(int at, std::string_view value) {
  // A null pointer would bind NULL, which means erased.
  const char* data = value.empty() ? "" : value.data();
  sqlite3_bind_blob(statement_.get(), at, data, static_cast<int>(value.size()), SQLITE_STATIC);
  return *this;
}

Statement& Statement::bind_null(int at) {
  sqlite3_bind_null(statement_.get(), at);
  return *this;
}

Result<bool, StoreError> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  StoreError error = database_->error();
  sqlite3_reset(statement_.get());
  return Unexpected{std::move(error)};
}

Result<void, StoreError> Statement::finish() {
  if (sqlite3_reset(statement_.get()) == SQLITE_OK) return {};
  return Unexpected{database_->error()};
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string_view Statement::view(int column) const {
  const void* data = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return data == nullptr
             ? std::string_view{}
             : std::string_view{static_cast<const char*>(data), static_cast<std::size_t>(size)};
}

std::string Statement::bytes(int column) const { return std::string{view(column)}; }

}  // namespace holdfast::local
