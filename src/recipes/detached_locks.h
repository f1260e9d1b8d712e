// DetachedLocks: locks as scripts hold them, whose leases outlive who takes them.
//
// A lease is one that was taken here, or one that another process took and whose owner is known.
// Nobody else renews them: keep_alive() does while a recipe waits.
//
// Thread safety: none; it belongs to one task. Lifetime: outlives the tasks it gives.

#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/task.h"
#include "holdfast/client.h"
#include "recipes/client_locks.h"
#include "recipes/run_here.h"

namespace holdfast::recipes {

class DetachedLocks {
 public:
  struct Held {
    std::string name;
    Owner owner;
    /// Empty: another process took it. Destroying it releases it, unless it was detached.
    std::optional<holdfast::Lease> taken{};
  };
  using Lease = std::shared_ptr<Held>;
  using Taken = Result<Lease, AcquireError>;

  /// Whatever is renewed is to last for `ttl` from then on.
  DetachedLocks(Client client, Millis ttl) : client_{client}, locks_{client}, ttl_{ttl} {}

  TimePoint now() const { return BootClock::now(); }

  /// A lease of another process.
  Lease adopt(std::string name, const Owner& owner);

  /// As ClientLocks::take_each(), of detached leases.
  Task<std::vector<Taken>> take_each(std::vector<std::string> names,
                                     AcquireOptions options,
                                     std::stop_token stop,
                                     std::vector<Lease>& held);
  Task<void> give_back(std::vector<Lease> leases);
  /// The lease outlives the await.
  Task<ReleaseOutcome> release(Lease& lease);

  /// Asks the engine about a lease of another process, which is renewed by that. Blocks.
  bool stands(const Lease& lease);

  /// Renews what was taken or adopted, and is not given up. Blocks; to be called between the steps
  /// of the task.
  void keep_alive();
  Chore renewal();

 private:
  Result<void> renew(Held& lease);
  Lease note(Held held);

  Client client_;
  ClientLocks locks_;
  Millis ttl_;
  std::vector<std::weak_ptr<Held>> held_;
};

}  // namespace holdfast::recipes
