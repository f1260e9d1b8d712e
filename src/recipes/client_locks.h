// ClientLocks: the locks of a Client, as the tasks of recipes take them.
//
// Recipes are templates over such a class. The simulator has another one, over virtual time
// (tests/scenarios/sim_locks.h), and runs the same recipes.
//
// Thread safety: none; it belongs to one task. Lifetime: outlives the tasks it gives.

#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "base/task.h"
#include "holdfast/client.h"
#include "recipes/released.h"
#include "recipes/run_here.h"

namespace holdfast::recipes {

class ClientLocks {
 public:
  using Lease = holdfast::Lease;
  using Taken = Result<Lease, AcquireError>;

  explicit ClientLocks(Client client) : client_{std::move(client)} {}

  TimePoint now() const { return BootClock::now(); }

  /// Asks for all of them at once, which is one step on engines that send together what is asked
  /// together, and ends when each is answered. In the order of the names. `held` is what the caller
  /// has by now: see keep_alive().
  Task<std::vector<Taken>> take_each(std::vector<std::string> names,
                                     AcquireOptions options,
                                     std::stop_token stop,
                                     std::vector<Lease>& held);

  /// Gives up all of them at once, and ends when each is answered.
  Task<void> give_back(std::vector<Lease> leases);

  /// Gives up one of them. The lease outlives the await.
  Task<ReleaseOutcome> release(Lease& lease) const { return released(lease); }

  bool stands(const Lease& lease) const { return lease.ensure_held().has_value(); }
  Millis ttl(const Lease& lease) const { return lease.ttl(); }

  /// Renews what is held while something else is waited for. Blocks. For detached leases, which
  /// nobody else renews; to be called between the steps of the task.
  void keep_alive();

 private:
  Client client_;
  /// While take_each() waits.
  std::vector<Lease>* held_{nullptr};
};

/// Keeps what is held alive while a task waits for more. Nothing to do for session leases. The
/// locks outlive it.
Chore renewal_of(ClientLocks& locks, const AcquireOptions& options);

}  // namespace holdfast::recipes
