#include "sim/etcd/etcd_model.h"

#include <algorithm>

namespace holdfast::sim {

using namespace etcd;

LeaseAnswer EtcdModel::answer(Seconds ttl) const {
  return {.header = {.revision = state_.keys.revision()}, .ttl = ttl};
}

void EtcdModel::tell_since(Revision before) {
  if (state_.keys.revision() == before) return;
  for (const auto& [id, watcher] : watchers_) {
    const Revision from = std::max(before + 1, watcher.watch.from);
    const std::vector<Change> changes = state_.keys.since(from, watcher.watch);
    if (!changes.empty()) watcher.receiver(state_.keys.revision(), changes);
  }
}

Result<TxnAnswer> EtcdModel::commit(const Txn& txn) {
  const Revision before = state_.keys.revision();
  Result<TxnAnswer> answer =
      state_.keys.commit(txn, [this](LeaseId lease) { return state_.leases.contains(lease); });
  tell_since(before);
  return answer;
}

Result<LeaseAnswer> EtcdModel::grant(LeaseId lease, Seconds ttl, Duration now) {
  ttl = std::max(ttl, kTtlMin);
  const bool made = state_.leases.try_emplace(lease, State::Lease{ttl, now + ttl}).second;
  return answer(made ? ttl : Seconds{0});
}

// The server keeps who renews a lease that has ended waiting until it is taken away.
Result<LeaseAnswer> EtcdModel::keep_alive(LeaseId lease, Duration now) {
  const auto found = state_.leases.find(lease);
  if (found == state_.leases.end()) return answer(Seconds{0});
  if (found->second.ends <= now) {
    end(lease);
    return answer(Seconds{0});
  }
  found->second.ends = now + found->second.ttl;
  return answer(found->second.ttl);
}

Result<LeaseAnswer> EtcdModel::revoke(LeaseId lease) {
  const auto found = state_.leases.find(lease);
  if (found == state_.leases.end()) return answer(Seconds{0});
  const Seconds ttl = found->second.ttl;
  end(lease);
  return answer(ttl);
}

Result<LeaseAnswer> EtcdModel::look_up(LeaseId lease, Duration now) const {
  const auto found = state_.leases.find(lease);
  if (found == state_.leases.end()) return answer(Seconds{0});
  const auto left = std::chrono::duration_cast<Seconds>(found->second.ends - now);
  return answer(std::max(left, Seconds{1}));
}

void EtcdModel::end(LeaseId lease) {
  const Revision before = state_.keys.revision();
  state_.leases.erase(lease);
  state_.keys.erase_all_of(lease);
  tell_since(before);
}

std::vector<LeaseId> EtcdModel::State::ended(Duration now) const {
  std::vector<LeaseId> ended;
  for (const auto& [id, lease] : leases) {
    if (lease.ends <= now) ended.push_back(id);
  }
  return ended;
}

void EtcdModel::expire(Duration now) {
  for (const LeaseId lease : state_.ended(now)) end(lease);
}

std::optional<Duration> EtcdModel::next_end() const {
  std::optional<Duration> next;
  for (const auto& [id, lease] : state_.leases)
    next = std::min(next.value_or(lease.ends), lease.ends);
  return next;
}

void EtcdModel::promote(Duration now, Duration extra) {
  for (auto& [id, lease] : state_.leases) lease.ends = now + extra + lease.ttl;
}

EtcdModel::Begun EtcdModel::watch(Watch watch, Receiver receiver) {
  Begun begun{.id = ++last_watcher_, .revision = state_.keys.revision()};
  begun.compacted = watch.from != 0 && watch.from < state_.keys.compacted();
  if (watch.from == 0 || begun.compacted) watch.from = state_.keys.revision() + 1;
  begun.past = state_.keys.since(watch.from, watch);
  watchers_.emplace(begun.id, Watcher{std::move(watch), std::move(receiver)});
  return begun;
}

void EtcdModel::restore(State state) {
  end_watches();
  state_ = std::move(state);
}

}  // namespace holdfast::sim
