#include "tests/contract/postgres_engines.h"

#include <filesystem>
#include <fstream>

#include "engines/postgres/schema/schema.h"
#include "tests/postgres/pgbouncer.h"
#include "tests/postgres/postgres_server.h"
#include "tests/redis/certificates.h"

namespace holdfast::contract {
namespace {

using postgres::PgBouncer;
using postgres::PostgresServer;
using postgres::PostgresSettings;

/// Every process of a test has several connections.
std::vector<std::string> settings() { return {"max_connections=400"}; }

std::shared_ptr<PostgresServer> server() {
  static const auto only = std::make_shared<PostgresServer>(PostgresSettings{.lines = settings()});
  return only;
}

struct GuardedPostgres {
  redis::Authority authority;
  std::unique_ptr<PostgresServer> server;
  std::string password_file;
};

std::shared_ptr<GuardedPostgres> make_guarded() {
  auto guarded = std::make_shared<GuardedPostgres>();
  guarded->authority.vouch_for("server", "DNS:localhost");
  guarded->server = std::make_unique<PostgresServer>(
      PostgresSettings{.lines = settings(),
                       .hba = {"hostssl all app,ann 127.0.0.1/32 scram-sha-256"},
                       .tls = PostgresSettings::Tls{guarded->authority.cert_file("server"),
                                                    guarded->authority.key_file("server")}});
  guarded->server->psql("CREATE ROLE app LOGIN PASSWORD 'secret'");
  guarded->server->psql("CREATE ROLE ann LOGIN PASSWORD 'secret' IN ROLE pg_signal_backend");
  guarded->server->psql(postgres::installation_script({.roles = {"app"}, .operators = {"ann"}}));
  const std::filesystem::path file = guarded->server->directory() / "password";
  std::ofstream{file} << "*:*:*:*:secret\n";
  // libpq reads no file that others may read.
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  guarded->password_file = file.string();
  return guarded;
}

}  // namespace

FreshEngine fresh_postgres(const std::string& mode, const std::string& prefix) {
  return {.url = server()->url() + "?mode=" + mode + '&' + prefix, .resources = server()};
}

FreshEngine fresh_pooled_postgres(const std::string& prefix) {
  static const auto pooler = std::make_shared<PgBouncer>(*server());
  return {.url = pooler->url() + "?listen=" + server()->url() + '&' + prefix, .resources = pooler};
}

FreshEngine fresh_guarded_postgres(const std::string& mode, const std::string& prefix) {
  static const auto guarded = make_guarded();
  const auto url = [&](const std::string& role) {
    return "postgres://" + role + "@localhost:" + std::to_string(guarded->server->port()) +
           "/postgres?sslmode=verify-full&sslrootcert=" + guarded->authority.ca_file() +
           "&passfile=" + guarded->password_file + "&mode=" + mode + '&' + prefix;
  };
  return {.url = url("app"), .resources = guarded, .operator_url = url("ann")};
}

}  // namespace holdfast::contract
