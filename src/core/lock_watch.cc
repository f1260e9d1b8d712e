#include "core/lock_watch.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace holdfast::core {
namespace {

enum class Role { holder, waiter };
struct Seen {
  Role role;
  Contender contender;
};
using Key = std::pair<std::string, std::string>;  // lock name, owner fingerprint
using Snapshot = std::map<Key, Seen>;

Snapshot snapshot(const std::vector<LockInfo>& locks) {
  Snapshot seen;
  for (const LockInfo& lock : locks) {
    for (const Contender& holder : lock.holders) {
      seen.emplace(Key{lock.name, holder.owner_fp}, Seen{Role::holder, holder});
    }
    for (const Contender& waiter : lock.waiters) {
      seen.emplace(Key{lock.name, waiter.owner_fp}, Seen{Role::waiter, waiter});
    }
  }
  return seen;
}

// Those that left are told of first, so that a lock is seen released before it is seen granted.
void tell_differences(const Snapshot& before,
                      const Snapshot& now,
                      const std::function<void(const LockEvent&)>& callback) {
  for (const auto& [key, seen] : before) {
    if (now.contains(key) || seen.role == Role::waiter) continue;
    callback(LockEvent{LockChange::released, key.first, seen.contender});
  }
  for (const auto& [key, seen] : now) {
    const auto known = before.find(key);
    if (known != before.end() && known->second.role == seen.role) continue;
    const auto change = seen.role == Role::holder ? LockChange::granted : LockChange::waiting;
    callback(LockEvent{change, key.first, seen.contender});
  }
}

}  // namespace

Result<void> watch_locks(const LockList& list,
                         Millis every,
                         const std::function<void(const LockEvent&)>& callback,
                         std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  Snapshot before;
  while (!stop.stop_requested()) {
    const auto locks = list();
    if (!locks) return Unexpected{locks.error()};
    Snapshot now = snapshot(*locks);
    tell_differences(before, now, callback);
    before = std::move(now);
    std::unique_lock lock{mutex};
    stopped.wait_for(lock, stop, every, [] { return false; });
  }
  return {};
}

}  // namespace holdfast::core
