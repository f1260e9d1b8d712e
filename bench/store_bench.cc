#include "bench/store_bench.h"

#include <sqlite3.h>
#include <unistd.h>

#include <fstream>
#include <memory>

#include "base/assert.h"
#include "bench/sampling.h"
#include "bench/scratch.h"
#include "holdfast/client.h"

namespace holdfast::bench {
namespace {

constexpr int kManyWrites = 1'000'000;
const std::string kValue(100, 'v');

/// What a program would do without Holdfast: one prepared statement, one transaction.
class PlainSqlite {
 public:
  PlainSqlite(const std::string& directory, const std::string& synchronous) {
    HOLDFAST_ASSERT(sqlite3_open((directory + "/plain.db").c_str(), &database_) == SQLITE_OK);
    execute("PRAGMA journal_mode=WAL");
    execute("PRAGMA synchronous=" + synchronous);
    execute("CREATE TABLE kv(key TEXT PRIMARY KEY, value BLOB, version INTEGER)");
    execute("INSERT INTO kv VALUES('ledger', 'v', 1)");
    constexpr const char* kUpdate = "UPDATE kv SET value=?1, version=version+1 WHERE key=?2";
    HOLDFAST_ASSERT(sqlite3_prepare_v2(database_, kUpdate, -1, &update_, nullptr) == SQLITE_OK);
  }
  ~PlainSqlite() {
    sqlite3_finalize(update_);
    sqlite3_close(database_);
  }
  PlainSqlite(const PlainSqlite&) = delete;
  PlainSqlite& operator=(const PlainSqlite&) = delete;

  void write() {
    const auto size = static_cast<int>(kValue.size());
    sqlite3_bind_blob(update_, 1, kValue.data(), size, SQLITE_STATIC);
    sqlite3_bind_text(update_, 2, "ledger", -1, SQLITE_STATIC);
    HOLDFAST_ASSERT(sqlite3_step(update_) == SQLITE_DONE);
    HOLDFAST_ASSERT(sqlite3_reset(update_) == SQLITE_OK);
  }

 private:
  void execute(const std::string& sql) {
    const int code = sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr);
    HOLDFAST_ASSERT(code == SQLITE_OK);
  }

  sqlite3* database_{nullptr};
  sqlite3_stmt* update_{nullptr};
};

/// A resource opened under a lock, in a directory of its own.
class FencedLedger {
 public:
  static Result<std::unique_ptr<FencedLedger>> open(const std::string& synchronous) {
    auto ledger = std::make_unique<FencedLedger>();
    auto client = Client::connect("local:" + ledger->scratch_.path() + "?sync=" + synchronous);
    if (!client) return Unexpected{client.error()};
    auto lease = client->acquire("ledger");
    if (!lease) return Unexpected{Error{lease.error()}};
    ledger->lease_ = std::make_unique<Lease>(std::move(*lease));
    auto store = client->store();
    if (!store) return Unexpected{store.error()};
    auto resource = store->open("ledger", *ledger->lease_);
    if (!resource) return Unexpected{Error{resource.error()}};
    ledger->resource_ = std::make_unique<Resource>(std::move(*resource));
    return ledger;
  }

  void write() { HOLDFAST_ASSERT(resource_->write(kValue).has_value()); }

 private:
  Scratch scratch_;
  std::unique_ptr<Lease> lease_;
  std::unique_ptr<Resource> resource_;
};

double resident_bytes() {
  std::ifstream statm{"/proc/self/statm"};
  std::uint64_t total = 0;
  std::uint64_t resident = 0;
  statm >> total >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

Result<void> add_write(Report& report, const std::string& synchronous, double target) {
  const Scratch scratch;
  PlainSqlite plain{scratch.path(), synchronous};
  auto ledger = FencedLedger::open(synchronous);
  if (!ledger) return Unexpected{ledger.error()};
  const auto timings = time_in_turns({{.name = "plain", .body = [&] { plain.write(); }},
                                      {.name = "fenced", .body = [&] { (*ledger)->write(); }}});
  report.cases.push_back({.name = "fenced write, sync=" + synchronous,
                          .ops_s = 1e9 / timings[1].p50_ns,
                          .p50_ns = timings[1].p50_ns,
                          .p99_ns = timings[1].p99_ns,
                          .limit_name = "SQLite, the same write",
                          .limit = timings[0].p50_ns,
                          .ratio = timings[0].p50_ns / timings[1].p50_ns,
                          .target = target});
  return {};
}

Result<void> add_memory(Report& report) {
  auto ledger = FencedLedger::open("off");
  if (!ledger) return Unexpected{ledger.error()};
  // Caches fill first.
  for (int i = 0; i < kManyWrites / 100; ++i) (*ledger)->write();
  const double before = resident_bytes();
  for (int i = 0; i < kManyWrites; ++i) (*ledger)->write();
  const double after = resident_bytes();
  report.cases.push_back({.name = "memory after 1 000 000 fenced writes",
                          .p50_ns = after,
                          .p99_ns = after,
                          .limit_name = "before them",
                          .limit = before,
                          .unit = "bytes",
                          .ratio = before / after,
                          .target = 0.98});
  return {};
}

}  // namespace

Result<void> add_store(Report& report, const Progress& progress) {
  progress("fenced writes");
  if (auto added = add_write(report, "full", 0.8); !added) return added;
  if (auto added = add_write(report, "off", 0.6); !added) return added;
  progress("1 000 000 fenced writes");
  return add_memory(report);
}

}  // namespace holdfast::bench
