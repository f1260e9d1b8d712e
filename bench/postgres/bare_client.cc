#include "bench/postgres/bare_client.h"

#include <libpq-fe.h>
#include <poll.h>

#include <cstdlib>

#include "base/assert.h"

namespace holdfast::bench {
namespace {

constexpr auto kTables =
    "SET client_min_messages = warning;"
    "CREATE TABLE IF NOT EXISTS bare (name text PRIMARY KEY, owner text, note text, token bigint,"
    " until timestamptz);"
    "CREATE TABLE IF NOT EXISTS bare_value (key text PRIMARY KEY, value bytea, version bigint);"
    "LISTEN bare";

}  // namespace

Result<std::unique_ptr<BarePostgres>> BarePostgres::connect(std::uint16_t port) {
  const std::string where =
      "host=127.0.0.1 user=postgres dbname=postgres gssencmode=disable port=" +
      std::to_string(port);
  pg_conn* const client = PQconnectdb(where.c_str());
  if (PQstatus(client) != CONNECTION_OK) {
    PQfinish(client);
    return Unexpected{Error{Errc::unavailable, "no PostgreSQL at " + std::to_string(port)}};
  }
  return std::unique_ptr<BarePostgres>{new BarePostgres{client}};
}

BarePostgres::BarePostgres(pg_conn* client) : client_{client} {
  PGresult* const made = PQexec(client_, kTables);
  HOLDFAST_ASSERT(PQresultStatus(made) == PGRES_COMMAND_OK);
  PQclear(made);
  prepare("lock", "SELECT pg_advisory_lock(4711)");
  prepare("unlock", "SELECT pg_advisory_unlock(4711)");
  prepare("insert",
          "INSERT INTO bare VALUES ($1, '00112233445566778899aabbccddeeff', "
          "'host.example 4711 a label', 4711, clock_timestamp() + interval '30 s')");
  prepare("erase", "DELETE FROM bare WHERE name = $1");
  prepare("put",
          "INSERT INTO bare_value VALUES ('key', $1, 1) ON CONFLICT (key) DO UPDATE "
          "SET value = excluded.value, version = bare_value.version + 1");
  prepare("notify", "SELECT pg_notify('bare', '')");
  prepare("ask", "SELECT 1");
}

BarePostgres::~BarePostgres() { PQfinish(client_); }

void BarePostgres::prepare(const char* name, const char* sql) {
  PGresult* const prepared = PQprepare(client_, name, sql, 0, nullptr);
  HOLDFAST_ASSERT(PQresultStatus(prepared) == PGRES_COMMAND_OK);
  PQclear(prepared);
}

std::string BarePostgres::run(const char* name, const std::string& argument) {
  const char* const values[]{argument.c_str()};
  const int count = argument.empty() ? 0 : 1;
  PGresult* const answer = PQexecPrepared(client_, name, count, values, nullptr, nullptr, 0);
  const ExecStatusType status = PQresultStatus(answer);
  HOLDFAST_ASSERT(status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK);
  std::string value = PQntuples(answer) > 0 ? PQgetvalue(answer, 0, 0) : "";
  PQclear(answer);
  return value;
}

void BarePostgres::lock() { run("lock"); }
void BarePostgres::unlock() { HOLDFAST_ASSERT(run("unlock") == "t"); }
void BarePostgres::insert() { run("insert", "hf/bare"); }
void BarePostgres::erase() { run("erase", "hf/bare"); }
void BarePostgres::put(const std::string& value) { run("put", value); }
void BarePostgres::notify() { run("notify"); }
void BarePostgres::ask() { run("ask"); }

void BarePostgres::wait() {
  for (;;) {
    PGnotify* const notice = PQnotifies(client_);
    if (notice != nullptr) return PQfreemem(notice);
    pollfd ready{.fd = PQsocket(client_), .events = POLLIN, .revents = 0};
    poll(&ready, 1, -1);
    HOLDFAST_ASSERT(PQconsumeInput(client_) == 1);
  }
}

std::size_t BarePostgres::contenders(const std::string& name) {
  const std::string sql = "SELECT count(*) FROM holdfast.inspect('hf/" + name + "')";
  PGresult* const answer = PQexec(client_, sql.c_str());
  HOLDFAST_ASSERT(PQresultStatus(answer) == PGRES_TUPLES_OK);
  const auto count = static_cast<std::size_t>(std::atoi(PQgetvalue(answer, 0, 0)));
  PQclear(answer);
  return count;
}

}  // namespace holdfast::bench
