// The bed over a real PostgreSQL server.

#include "engines/postgres/driver/postgres_driver.h"
#include "engines/postgres/schema/base_sql.h"
#include "engines/postgres/schema/lease_sql.h"
#include "tests/ports/bed_turns.h"
#include "tests/ports/postgres_bed.h"
#include "tests/postgres/shared_server.h"

namespace holdfast::ports {
namespace {

using namespace postgres;

/// A database with the schema, which the beds share.
const std::string& shared_database() {
  static const std::string database = [] {
    std::string made = shared_server().create_database();
    shared_server().psql(std::string{sql::kBase} + std::string{sql::kLease}, made);
    return made;
  }();
  return database;
}

class PostgresServerBed final : public OverAsio<PostgresPortBed> {
 public:
  PostgresServerBed() {
    const PostgresTarget target{
        .parameters = *read_conninfo(shared_server().url("postgres", shared_database()))};
    driver_ = *PostgresDriver::create(asio_env(), target);
  }
  ~PostgresServerBed() override {
    on_env([this] { driver_.reset(); });
  }

  PostgresPort& port() override { return *driver_; }

  void terminate(std::int32_t backend) override {
    shared_server().psql("SELECT pg_terminate_backend(" + std::to_string(backend) + ")");
  }

  bool attended(const std::string& number) override {
    return shared_server().psql(
               "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
               " AND objsubid = 1 AND classid = 0 AND objid = " +
               number) != "0";
  }

 private:
  std::shared_ptr<PostgresDriver> driver_;
};

}  // namespace

std::unique_ptr<PostgresPortBed> make_postgres_server_bed() {
  return std::make_unique<PostgresServerBed>();
}

HOLDFAST_POSTGRES_PORT_ON(Server, make_postgres_server_bed);

}  // namespace holdfast::ports
