// PostgresBed: a model server, the network to it and processes that use it, for tests of what runs
// over PostgresPort.
//
//     PostgresBed bed;
//     PostgresBed::Process& alice = bed.start();
//     MyEngine engine{alice.env, alice.port};
//     bed.scheduler.advance(10s);

#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "sim/postgres/sim_postgres_port.h"

namespace holdfast::sim {

/// Thread safety: none.
struct PostgresBed {
  struct Process {
    Process(PostgresBed& bed, std::uint64_t seed)
        : host{bed.network.add_host()},
          env{bed.scheduler, seed},
          port{std::make_shared<SimPostgresPort>(
              SimPostgresPort::Route{.scheduler = bed.scheduler,
                                     .env = env,
                                     .network = bed.network,
                                     .node = bed.node,
                                     .ends = {.client = host, .server = bed.server},
                                     .pooler = bed.pooler})} {}

    HostId host;
    SimEnv env;
    std::shared_ptr<SimPostgresPort> port;
  };

  explicit PostgresBed(Pooler between = Pooler::no) : pooler{between} {}
  ~PostgresBed() { scheduler.clear(); }
  PostgresBed(const PostgresBed&) = delete;
  PostgresBed& operator=(const PostgresBed&) = delete;

  Process& start() {
    processes.push_back(std::make_unique<Process>(*this, 100 + processes.size()));
    return *processes.back();
  }

  /// Neither hears the other until reconnect().
  void cut_off(const Process& process) { block(process, 1); }
  void reconnect(const Process& process) { block(process, -1); }

  /// Runs the statement on the pool, and the world until it is answered.
  Result<postgres::Answer> ask(Process& process,
                               const postgres::Statement& statement,
                               std::vector<postgres::Value> args,
                               Duration patience = std::chrono::seconds{5}) {
    const auto answer = std::make_shared<std::optional<Result<postgres::Answer>>>();
    process.env.post([&, answer] {
      process.port->send(
          postgres::share({.statement = &statement, .args = std::move(args)}),
          process.env.now() + patience,
          [answer](Result<postgres::Answer> given) { answer->emplace(std::move(given)); });
    });
    const bool answered = scheduler.run_until([&] { return answer->has_value(); }, kHang);
    HOLDFAST_ASSERT(answered);
    return **std::move(answer);
  }

  Scheduler scheduler;
  Trace trace;
  Network network{scheduler, trace, 1};
  PostgresNode node{scheduler};
  HostId server{network.add_host()};
  Pooler pooler;
  std::vector<std::unique_ptr<Process>> processes;

 private:
  static constexpr Duration kHang = std::chrono::minutes{5};

  void block(const Process& process, int more) {
    network.way(process.host, server).blocked += more;
    network.way(server, process.host).blocked += more;
  }
};

}  // namespace holdfast::sim
