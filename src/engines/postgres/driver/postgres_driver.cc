#include "engines/postgres/driver/postgres_driver.h"

#include <utility>

#include "engines/postgres/driver/session_line.h"
#include "engines/postgres/driver/statement_pool.h"

namespace holdfast::postgres {
namespace {

class DriverSession final : public PostgresSession {
 public:
  explicit DriverSession(std::shared_ptr<SessionLine> line) : line_{std::move(line)} {}
  ~DriverSession() override { line_->abandon(); }
  DriverSession(const DriverSession&) = delete;
  DriverSession& operator=(const DriverSession&) = delete;

  void send(SharedCall call, TimePoint answer_by, OnAnswer on_answer) override {
    line_->send(std::move(call), answer_by, std::move(on_answer));
  }
  std::int32_t backend() const override { return line_->backend(); }

 private:
  std::shared_ptr<SessionLine> line_;
};

}  // namespace

Result<std::shared_ptr<PostgresDriver>> PostgresDriver::create(runtime::AsioEnv& env,
                                                               const PostgresTarget& target,
                                                               PostgresDriverSettings settings) {
  auto server = Server::create(env, target, target.parameters, settings);
  if (!server) return Unexpected{std::move(server).error()};
  std::shared_ptr<Server> for_sessions = *server;
  if (target.direct) {
    auto direct = Server::create(env, target, *target.direct, settings);
    if (!direct) return Unexpected{std::move(direct).error()};
    for_sessions = *std::move(direct);
  }
  return std::shared_ptr<PostgresDriver>{
      new PostgresDriver{*std::move(server), std::move(for_sessions)}};
}

PostgresDriver::PostgresDriver(std::shared_ptr<Server> server, std::shared_ptr<Server> for_sessions)
    : server_{std::move(server)},
      for_sessions_{std::move(for_sessions)},
      pool_{std::make_shared<StatementPool>(server_)} {}

PostgresDriver::~PostgresDriver() {
  pool_->abandon();
  server_->env.post([pool = pool_] { pool->close(); });
}

void PostgresDriver::send(SharedCall call, TimePoint answer_by, OnAnswer on_answer) {
  pool_->send(std::move(call), answer_by, std::move(on_answer));
}

PostgresPort::Direct PostgresDriver::direct() const {
  const bool by_word = for_sessions_->pooling == Pooling::session || for_sessions_ != server_;
  if (server_->direct == Direct::unknown || !by_word) return server_->direct;
  // A pooler that was called the server itself is noticed by the first session.
  const bool is_mistaken =
      for_sessions_->direct == Direct::no && for_sessions_->pooling != Pooling::session;
  return is_mistaken ? Direct::no : Direct::yes;
}

std::unique_ptr<PostgresSession> PostgresDriver::open(TimePoint connected_by, OnEvent on_event) {
  auto line = std::make_shared<SessionLine>(for_sessions_, connected_by, std::move(on_event));
  line->open();
  return std::make_unique<DriverSession>(std::move(line));
}

std::string PostgresDriver::servers() const { return server_->text(); }

PostgresDriver::Stats PostgresDriver::stats() const {
  Stats stats{.statements = server_->statements, .connections = server_->connections};
  if (for_sessions_ != server_) {
    stats.statements += for_sessions_->statements;
    stats.connections += for_sessions_->connections;
  }
  return stats;
}

}  // namespace holdfast::postgres
