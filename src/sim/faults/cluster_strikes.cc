// What a nemesis does to the members of a cluster.

#include "sim/faults/nemesis.h"

#include <utility>

namespace holdfast::sim {

void Nemesis::isolate(Chance& chance) {
  const std::size_t member = any_node(chance);
  const Duration duration = a_while(chance);
  if (world_.servers().cut_off(member)) return;
  record(FaultClass::isolation, world_.now() + duration, member);
  world_.note(EventKind::member_changed, world_.node_host(member), {}, "is isolated");
  world_.servers().isolate(member);
  world_.scheduler().after(duration, [this, member] {
    if (healed_) return;
    world_.note(EventKind::member_changed, world_.node_host(member), {}, "rejoins");
    world_.servers().rejoin(member);
  });
}

void Nemesis::change_leader(Chance&) {
  Servers& servers = world_.servers();
  const auto former = servers.leader();
  if (!former) return;
  servers.change_leader();
  const auto leader = servers.leader();
  record(FaultClass::leader_change, world_.now(), leader.value_or(*former));
  const HostId host = world_.node_host(leader.value_or(*former));
  world_.note(EventKind::member_changed, host, {}, leader ? "leads" : "steps down");
}

void Nemesis::compact(Chance&) {
  EtcdCluster& cluster = world_.etcd();
  record(FaultClass::compaction, world_.now(), 0);
  world_.note(EventKind::member_changed, world_.node_host(), {}, "forgets its history");
  cluster.compact(cluster.revision());
}

void Nemesis::stick_leader(Chance& chance) {
  const Duration duration = chance.between(ttl_ / 2, ttl_ * 3);
  auto stuck = world_.etcd().stick_leader();
  if (!stuck) return;
  record(FaultClass::stuck_leader, world_.now() + duration, stuck->member);
  world_.note(EventKind::member_changed, world_.node_host(stuck->member), {}, "is stuck");
  world_.scheduler().after(duration, [this, stuck = *std::move(stuck)] {
    if (healed_) return;
    world_.note(EventKind::member_changed, world_.node_host(stuck.member), {}, "goes on");
    world_.etcd().go_on(stuck);
  });
}

}  // namespace holdfast::sim
