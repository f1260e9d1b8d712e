// SimLocks: the locks of a simulated process, as recipes take them. src/recipes/client_locks.h has
// the contract; this is the same over virtual time.
//
// Thread safety: none. Lifetime: the world outlives it; it outlives the tasks it gives.

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "sim/protocol.h"
#include "sim/world/world.h"

namespace holdfast::sim {

/// A world of a protocol's servers, and the engine of each process in it.
class RecipeWorld {
 public:
  RecipeWorld(std::uint64_t seed, const Protocol& protocol, Millis ttl);

  World& world() { return *world_; }
  Millis ttl() const { return ttl_; }
  std::shared_ptr<core::LeaseEngine> engine(const Env& env) const {
    return engines_.at(&env).lock();
  }

  /// Loses, delays and repeats messages, pauses some processes and kills one, then heals. Whom it
  /// killed.
  ClientId trouble(Chance& chance);

 private:
  Millis ttl_;
  ServerKind servers_;
  std::map<const Env*, std::weak_ptr<core::LeaseEngine>> engines_;
  std::unique_ptr<World> world_;
};

class SimLocks {
 public:
  /// Kept by the process's session, or left to its TTL.
  struct Lease {
    std::optional<LeaseView> kept;
    std::optional<core::LeaseSession::Detached> detached;
  };
  using Taken = Result<Lease, AcquireError>;

  SimLocks(RecipeWorld& world, ClientId client)
      : world_{world}, process_{world.world().client(client)} {}

  TimePoint now() const { return process_.env().now(); }
  Task<std::vector<Taken>> take_each(std::vector<std::string> names,
                                     AcquireOptions options,
                                     std::stop_token stop,
                                     std::vector<Lease>& held);
  Task<void> give_back(std::vector<Lease> leases);
  Task<ReleaseOutcome> release(Lease& lease);
  bool stands(const Lease& lease) const;
  Millis ttl(const Lease& lease) const { return lease.detached->ttl; }

 private:
  struct Gathering;

  Task<void> take(std::string name,
                  AcquireOptions options,
                  std::size_t index,
                  std::shared_ptr<Gathering> gathering);
  Task<Taken> take_one(std::string name, AcquireOptions options);
  Task<void> give_back_one(Lease lease, std::shared_ptr<Gathering> gathering);

  RecipeWorld& world_;
  SimClient& process_;
};

}  // namespace holdfast::sim
