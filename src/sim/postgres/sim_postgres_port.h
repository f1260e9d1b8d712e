// SimPostgresPort: the PostgreSQL port over the simulated network and a model server.
//
// Statements of the pool travel each on its own. One that left over a connection which the server
// has ended meanwhile does not run, and its sender cannot know.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "engines/postgres/postgres_port.h"
#include "sim/postgres/postgres_node.h"
#include "sim/world/network.h"
#include "sim/world/sim_env.h"

namespace holdfast::sim {

/// Whether a pooler is between, and no address of the server itself known.
enum class Pooler : std::uint8_t { no, yes };

struct PostgresEnds {
  HostId client;
  HostId server;
};

/// Thread safety: none. Env, network and node outlive it and its calls.
class SimPostgresPort final : public postgres::PostgresPort {
 public:
  /// The way from one client to a model server.
  struct Route {
    Scheduler& scheduler;
    SimEnv& env;
    Network& network;
    PostgresNode& node;
    PostgresEnds ends;
    Pooler pooler{Pooler::no};
  };

  explicit SimPostgresPort(const Route& route) : route_{route} {}

  void send(postgres::SharedCall call, TimePoint answer_by, postgres::OnAnswer on_answer) override;
  Direct direct() const override { return pool_->direct; }
  std::unique_ptr<postgres::PostgresSession> open(TimePoint connected_by,
                                                  postgres::OnEvent on_event) override;

 private:
  /// What is known of the server, shared with what is under way.
  struct Pool {
    /// The life of the server with which connections are open.
    std::optional<std::uint32_t> life{};
    Direct direct{Direct::unknown};
  };
  struct Pending;

  static void depart(const Route& route, const std::shared_ptr<Pending>& pending);
  static void arrive(const Route& route, std::uint64_t number, Pending& pending);

  Route route_;
  std::shared_ptr<Pool> pool_{std::make_shared<Pool>()};
};

/// Notes in the trace that the server ran the call, and what it answered.
void note_run(const SimPostgresPort::Route& route,
              std::uint64_t number,
              const postgres::Call& call,
              const postgres::Answer& answer);

}  // namespace holdfast::sim
