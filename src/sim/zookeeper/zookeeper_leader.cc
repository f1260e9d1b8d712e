// What a leader does of itself, and what passes between it and its followers.

#include <algorithm>
#include <utility>

#include "sim/zookeeper/zookeeper_ensemble.h"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;
using namespace zookeeper;

constexpr Duration kLatencyMin = 100us;
constexpr Duration kLatencyMax = 1ms;
// What leases of the shortest TTL allow for: docs/internals/zookeeper_model.md.
constexpr Duration kLatencySlow = 40ms;
// Real servers look once a minute. More often shows more.
constexpr Duration kSweepMin = 1s;
constexpr Duration kSweepMax = 20s;

}  // namespace

Duration ZookeeperEnsemble::now_at(std::size_t member) const {
  return members_[member].clock.at(scheduler_.now());
}

void ZookeeperEnsemble::plan_ping(std::size_t leader) {
  const SimClock& clock = members_[leader].clock;
  const Duration after = clock.when(now_at(leader) + kTick / 2) - scheduler_.now();
  scheduler_.after(after, [this, leader, term = members_[leader].term] {
    if (members_[leader].term != term) return;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const Member& one = members_[i];
      const bool its = one.role == Role::following && one.leader == leader;
      if (!its || one.epoch != members_[leader].epoch) continue;
      to_follower(i, [this, i, leader] {
        to_leader(i, [this, leader, heard = std::exchange(members_[i].heard, {})] {
          for (const SessionId id : heard) members_[leader].sessions.touch(id, now_at(leader));
        });
      });
    }
    plan_ping(leader);
  });
}

void ZookeeperEnsemble::plan_expiry(std::size_t leader) {
  Member& member = members_[leader];
  const auto next = member.sessions.next_end();
  if (!next) return;
  const TimePoint ends = std::max(member.clock.when(*next), scheduler_.now());
  if (ends >= member.expiry_planned) return;
  member.expiry_planned = ends;
  scheduler_.after(ends - scheduler_.now(), [this, leader, ends, term = member.term] {
    Member& one = members_[leader];
    if (one.term != term || one.expiry_planned != ends) return;
    one.expiry_planned = TimePoint::max();
    for (const SessionId id : one.sessions.take_ended(now_at(leader))) {
      propose(leader, {.by = id, .what = Closing{}});
    }
    plan_expiry(leader);
  });
}

void ZookeeperEnsemble::plan_sweep(std::size_t leader) {
  const Duration after = chance_.between(kSweepMin, kSweepMax);
  scheduler_.after(after, [this, leader, term = members_[leader].term] {
    if (members_[leader].term != term) return;
    for (std::string& path : members_[leader].tree.idle_containers()) {
      propose(leader, {.by = {}, .what = share(Erase{.path = std::move(path)})});
    }
    plan_sweep(leader);
  });
}

Duration ZookeeperEnsemble::latency() {
  const bool slow = chance_.happens(lag_);
  return chance_.between(kLatencyMin, slow ? kLatencySlow : kLatencyMax);
}

void ZookeeperEnsemble::pass(std::size_t follower,
                             std::uint64_t term,
                             const std::function<void()>& arrive) {
  Member& member = members_[follower];
  if (member.term != term) return;
  if (hears_leader(follower)) {
    arrive();
  } else {
    member.held.push_back(arrive);
  }
}

void ZookeeperEnsemble::pass_held(std::size_t follower) {
  const std::uint64_t term = members_[follower].term;
  for (const auto& arrive : std::exchange(members_[follower].held, {})) {
    pass(follower, term, arrive);
  }
}

void ZookeeperEnsemble::to_leader(std::size_t follower, std::function<void()> arrive) {
  Member& member = members_[follower];
  member.up_until = std::max(member.up_until, scheduler_.now() + latency());
  scheduler_.after(member.up_until - scheduler_.now(),
                   [this, follower, term = member.term, arrive = std::move(arrive)] {
                     pass(follower, term, arrive);
                   });
}

void ZookeeperEnsemble::to_follower(std::size_t follower, std::function<void()> arrive) {
  Member& member = members_[follower];
  member.down_until = std::max(member.down_until, scheduler_.now() + latency());
  scheduler_.after(member.down_until - scheduler_.now(),
                   [this, follower, term = member.term, arrive = std::move(arrive)] {
                     pass(follower, term, arrive);
                   });
}

void ZookeeperEnsemble::when_learnt(std::size_t follower, std::function<void()> run) {
  Member& member = members_[follower];
  const bool slow = chance_.happens(lag_);
  const Duration takes = slow ? chance_.between(0s, kTick * 2) : Duration{0};
  member.learns_until = std::max(member.learns_until, scheduler_.now() + takes);
  scheduler_.after(member.learns_until - scheduler_.now(),
                   [this, follower, term = member.term, run = std::move(run)] {
                     if (members_[follower].term == term) run();
                   });
}

}  // namespace holdfast::sim
