// PostgresDriver: the PostgresPort over libpq, in the Env's own loop.
//
// Statements share a few connections (statement_pool.h), which are made when they are first needed
// and again when they break. Every session has a connection of its own (session_line.h). There is
// no thread but for looking up names.
//
// Thread safety: every member is called on the Env's thread; create() and the destructor on any.
// Lifetime: the Env outlives it. Destroying it closes the pool's connections and drops the
// callbacks without calling them; the tasks that wait for them unwind.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engines/postgres/driver/postgres_target.h"
#include "engines/postgres/postgres_port.h"
#include "runtime/asio_env.h"

namespace holdfast::postgres {

struct Server;
class StatementPool;

class PostgresDriver final : public PostgresPort {
 public:
  /// What has happened so far; for tests and measurements.
  struct Stats {
    /// Those that were handed over.
    std::uint64_t statements{0};
    /// Connections that were made, those of sessions among them.
    std::uint64_t connections{0};
  };

  /// Connects to nothing yet. Any thread. invalid_argument: the parameters are wrong, with what the
  /// environment and service files add.
  static Result<std::shared_ptr<PostgresDriver>> create(runtime::AsioEnv& env,
                                                        const PostgresTarget& target,
                                                        PostgresDriverSettings settings = {});
  ~PostgresDriver() override;
  PostgresDriver(const PostgresDriver&) = delete;
  PostgresDriver& operator=(const PostgresDriver&) = delete;

  /// A statement that cannot leave waits for a connection until its deadline.
  ///
  /// At once instead of at the deadline, and the statement never left: denied, corrupt, and
  /// invalid_argument: the server has no such database. Statements sent afterwards try again, no
  /// more often than the backoff says.
  void send(SharedCall call, TimePoint answer_by, OnAnswer on_answer) override;

  Direct direct() const override;

  /// Of the event `ended`, beside what send() has. unsupported: there is a pooler between.
  std::unique_ptr<PostgresSession> open(TimePoint connected_by, OnEvent on_event) override;

  /// The hosts that statements go to, as messages name them.
  std::string servers() const;
  Stats stats() const;

 private:
  PostgresDriver(std::shared_ptr<Server> server, std::shared_ptr<Server> for_sessions);

  std::shared_ptr<Server> server_;
  /// The same unless there is an address of the server itself.
  std::shared_ptr<Server> for_sessions_;
  std::shared_ptr<StatementPool> pool_;
};

}  // namespace holdfast::postgres
