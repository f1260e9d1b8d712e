// ZookeeperDriver: the ZookeeperPort over ZooKeeper's C client, in the Env's own loop.
//
// Every session has a client of its own (session_line.h, client_loop.h). There is no thread.
//
// Thread safety: every member is called on the Env's thread; create() and the destructor on any.
// Lifetime: the Env outlives it. A session that is closing ends by itself.

#pragma once

#include <cstdint>
#include <memory>

#include "engines/zookeeper/driver/zookeeper_target.h"
#include "engines/zookeeper/zookeeper_port.h"
#include "runtime/asio_env.h"

namespace holdfast::zookeeper {

struct SessionContext;

class ZookeeperDriver final : public ZookeeperPort {
 public:
  /// What has happened so far; for tests and measurements.
  struct Stats {
    /// Those that left.
    std::uint64_t requests{0};
    /// How often a session found a server.
    std::uint64_t connections{0};
  };

  /// Connects to nothing yet. Precondition: the target has an endpoint.
  ZookeeperDriver(runtime::AsioEnv& env,
                  ZookeeperTarget target,
                  ZookeeperDriverSettings settings = {});
  ~ZookeeperDriver() override;

  /// A timeout of less than a second is asked for as a second.
  /// A request that cannot leave waits for a server until its deadline. Who finds that none of the
  /// servers is ZooKeeper hears of it at once.
  /// Of the event `refused`. not_found: the chroot is not there. denied: no digest authentication.
  std::unique_ptr<ZookeeperSession> open(SessionAsk ask, OnEvent on_event) override;

  const ZookeeperTarget& target() const;
  Stats stats() const;

 private:
  std::shared_ptr<SessionContext> context_;
};

}  // namespace holdfast::zookeeper
