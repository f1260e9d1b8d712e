#include "engines/postgres/doctor/examine.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/decimal.h"
#include "engines/postgres/refusal_error.h"
#include "engines/postgres/schema/schema.h"

namespace holdfast::postgres {
namespace {

using WallClock = std::chrono::system_clock;

constexpr Statement kSettings{"holdfast_doctor_settings",
                              "SELECT name, setting FROM pg_settings WHERE name IN ("
                              "'autovacuum', 'default_transaction_isolation', "
                              "'default_transaction_read_only', 'fsync', 'full_page_writes', "
                              "'idle_in_transaction_session_timeout', 'idle_session_timeout', "
                              "'lock_timeout', 'max_connections', 'server_version', "
                              "'server_version_num', 'statement_timeout', 'synchronous_commit', "
                              "'synchronous_standby_names', 'tcp_keepalives_idle', "
                              "'tcp_user_timeout')"};

// What a role may not see of others is NULL there, but the rows can be counted.
constexpr Statement kServer{
    "holdfast_doctor_server",
    "SELECT current_user, pg_is_in_recovery(), "
    "coalesce(inet_client_addr() << '127.0.0.0/8' OR inet_client_addr() = '::1', true), "
    "coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false), "
    "(SELECT rolsuper FROM pg_roles WHERE rolname = current_user), "
    "(SELECT count(*) FROM pg_stat_replication), "
    "(SELECT sum(numbackends) FROM pg_stat_database), "
    "has_database_privilege(current_database(), 'CREATE')"};

constexpr Statement kClock{"holdfast_doctor_clock",
                           "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint"};

Task<Result<Rows>> run(PostgresPort& port, const Statement& statement, TimePoint answer_by) {
  const SharedCall call = share({.statement = &statement, .args = {}});
  auto answer = co_await port.answered(call, answer_by);
  co_return rows_of(std::move(answer));
}

bool is_true(const Value& value) { return value == "t"; }

std::int64_t count(const Value& value) {
  return parse_decimal<std::int64_t>(value.value_or("")).value_or(0);
}

Result<void> read_server(ServerFacts& facts, const Rows& rows) {
  constexpr std::size_t kColumns = 8;
  if (rows.size() != 1 || rows[0].size() != kColumns) {
    return Unexpected{Error{Errc::corrupt, "the server's answer makes no sense"}};
  }
  const Row& row = rows[0];
  facts.role = row[0].value_or("");
  facts.in_recovery = is_true(row[1]);
  facts.stays_here = is_true(row[2]);
  facts.encrypted = is_true(row[3]);
  facts.superuser = is_true(row[4]);
  facts.replicas = count(row[5]);
  facts.connections = count(row[6]);
  facts.may_create_schema = is_true(row[7]);
  return {};
}

void read_settings(ServerFacts& facts, const Rows& rows) {
  for (const Row& row : rows) {
    if (row.size() == 2 && row[0] && row[1]) facts.settings[*row[0]] = *row[1];
  }
}

/// An error: that of a server that did not answer.
Result<void> read_schema_state(ServerFacts& facts, const Result<SchemaFacts>& schema) {
  if (schema) {
    facts.schema_version = schema->version;
    facts.schema = schema->version == kSchemaVersion  ? SchemaState::usable
                   : schema->version < kSchemaVersion ? SchemaState::older
                                                      : SchemaState::newer;
    return {};
  }
  const Errc code = schema.error().code;
  if (code != Errc::not_found && code != Errc::denied) return Unexpected{schema.error()};
  facts.schema = code == Errc::denied ? SchemaState::denied : SchemaState::missing;
  return {};
}

/// The quickest of a few round trips, and the clock by it.
Task<Result<void>> read_clock(Env& env,
                              PostgresPort& port,
                              ServerFacts& facts,
                              const Examination& examination,
                              TimePoint answer_by) {
  facts.round_trip = Duration::max();
  for (int i = 0; i < 5; ++i) {
    const TimePoint sent_at = env.now();
    const auto rows = co_await run(port, kClock, answer_by);
    if (!rows) co_return Unexpected{rows.error()};
    const Duration took = env.now() - sent_at;
    if (took >= facts.round_trip) continue;
    facts.round_trip = took;
    if (!examination.wall_clock || rows->empty()) continue;
    const auto here = examination.wall_clock().time_since_epoch() - took / 2;
    facts.clock_ahead = Millis{count(rows->front()[0])} - std::chrono::duration_cast<Millis>(here);
  }
  co_return Result<void>{};
}

}  // namespace

Task<Result<ServerFacts>> examine(Env& env,
                                  PostgresPort& port,
                                  Examination examination,
                                  TimePoint answer_by) {
  ServerFacts facts{.usage = examination.usage, .server = examination.server};
  const auto server = co_await run(port, kServer, answer_by);
  if (!server) co_return Unexpected{server.error()};
  if (auto read = read_server(facts, *server); !read) co_return Unexpected{read.error()};
  const auto settings = co_await run(port, kSettings, answer_by);
  if (!settings) co_return Unexpected{settings.error()};
  read_settings(facts, *settings);
  const auto schema = co_await read_schema(port, answer_by);
  if (auto read = read_schema_state(facts, schema); !read) co_return Unexpected{read.error()};
  const auto clock = co_await read_clock(env, port, facts, examination, answer_by);
  if (!clock) co_return Unexpected{clock.error()};
  facts.pooled = port.direct() == PostgresPort::Direct::no;
  co_return facts;
}

}  // namespace holdfast::postgres
