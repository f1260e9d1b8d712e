// Watching: looks at everything when told of a change, and tells what is different.

#include <array>
#include <map>
#include <utility>

#include "engines/local/local_backend.h"

namespace holdfast::local {
namespace {

enum class Role { holder, waiter };
using Key = std::pair<std::string, std::string>;  // lock name, owner fingerprint
using Snapshot = std::map<Key, std::pair<Role, holdfast::Contender>>;
using Callback = std::function<void(const LockEvent&)>;

Snapshot snapshot(const std::vector<LockInfo>& locks) {
  Snapshot result;
  for (const LockInfo& lock : locks) {
    for (const auto& holder : lock.holders) {
      result.emplace(Key{lock.name, holder.owner_fp}, std::pair{Role::holder, holder});
    }
    for (const auto& waiter : lock.waiters) {
      result.emplace(Key{lock.name, waiter.owner_fp}, std::pair{Role::waiter, waiter});
    }
  }
  return result;
}

// Those that left are told of first, so that a lock is seen released before it is seen granted.
void tell_differences(const Snapshot& before, const Snapshot& now, const Callback& callback) {
  for (const auto& [key, entry] : before) {
    if (now.contains(key) || entry.first == Role::waiter) continue;
    callback(LockEvent{LockChange::released, key.first, entry.second});
  }
  for (const auto& [key, entry] : now) {
    const auto known = before.find(key);
    if (known != before.end() && known->second.first == entry.first) continue;
    const auto change = entry.first == Role::holder ? LockChange::granted : LockChange::waiting;
    callback(LockEvent{change, key.first, entry.second});
  }
}

}  // namespace

Result<void> LocalBackend::watch(std::string_view prefix,
                                 const Callback& callback,
                                 std::stop_token stop) {
  // Leases that run out make no noise, so a look is taken twice a second in any case.
  constexpr auto kLook = std::chrono::milliseconds{500};
  std::atomic<std::uint32_t> stopped{0};
  const std::stop_callback on_stop{stop, [&] {
                                     stopped.store(1);
                                     futex_wake(stopped, 1);
                                   }};
  Snapshot before;
  while (!stop.stop_requested()) {
    if (auto checked = usable(); !checked) return checked;
    const TimePoint now = BootClock::now();
    engine_->keep_watching(now + 2 * kLook);
    const std::uint32_t changes = engine_->header().changes.load();
    Snapshot current = snapshot(engine_->list(prefix, now));
    tell_differences(before, current, callback);
    before = std::move(current);
    const std::array words{FutexWait{.word = &engine_->header().changes, .expected = changes},
                           FutexWait{.word = &stopped, .expected = 0}};
    futex_wait_any(words, now + kLook);
  }
  return {};
}

}  // namespace holdfast::local
