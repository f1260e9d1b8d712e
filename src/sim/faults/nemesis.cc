#include "sim/faults/nemesis.h"

#include <algorithm>
#include <array>
#include <utility>

namespace holdfast::sim {

Nemesis::Nemesis(World& world,
                 std::uint64_t seed,
                 FaultPlan plan,
                 Duration ttl,
                 History& history,
                 std::function<void(ClientId)> started)
    : world_{world},
      seed_{seed},
      plan_{std::move(plan)},
      ttl_{ttl},
      history_{history},
      started_{std::move(started)},
      pauses_{chance_of(seed, FaultClass::pause)},
      replication_{chance_of(seed + 1, FaultClass::promotion)},
      starts_with_(world.nodes()),
      crashes_(world.clients()),
      down_(world.clients(), false) {
  history_.pauses.resize(world.clients());
}

void Nemesis::start() {
  static constexpr std::array kClasses{
      Class{FaultClass::partition, &Nemesis::partition},
      Class{FaultClass::one_way, &Nemesis::one_way},
      Class{FaultClass::clog, &Nemesis::clog},
      Class{FaultClass::crash, &Nemesis::crash},
      Class{FaultClass::restart, &Nemesis::restart},
      Class{FaultClass::data_loss, &Nemesis::lose_data},
      Class{FaultClass::promotion, &Nemesis::promote},
      Class{FaultClass::clock_step, &Nemesis::step_clock},
      Class{FaultClass::isolation, &Nemesis::isolate},
      Class{FaultClass::leader_change, &Nemesis::change_leader},
      Class{FaultClass::compaction, &Nemesis::compact},
      Class{FaultClass::stuck_leader, &Nemesis::stick_leader},
  };
  world_.set_faults(plan_.network);
  if (world_.servers().zookeeper) world_.zookeeper().set_lag(plan_.network.slow);
  for (const FaultClass kind : {FaultClass::loss, FaultClass::duplication, FaultClass::delay}) {
    if (plan_.classes.has(kind)) record(kind, kNever, 0);
  }
  for (std::size_t i = 0; i < world_.nodes(); ++i) {
    world_.servers().set_clock_rate(i, plan_.node_rates.at(i));
    // A slow clock only makes locks last longer.
    const bool too_fast = plan_.node_rates.at(i).ppm > kAllowedPpm;
    if (too_fast) record(FaultClass::clock_drift, kNever, i);
  }
  for (std::size_t i = 0; i < world_.clients(); ++i) {
    attend({i});
    const bool too_slow = plan_.client_rates.at(i).ppm < -kAllowedPpm;
    if (too_slow) record(FaultClass::client_drift, kNever, i);
  }
  for (const Class& what : kClasses) {
    if (plan_.classes.has(what.kind)) plan_strike(what, chance_of(seed_, what.kind));
  }
  if (plan_.classes.has(FaultClass::data_loss)) sync_disks();
  if (plan_.classes.has(FaultClass::promotion)) replicate();
}

void Nemesis::record(FaultClass kind, TimePoint end, std::size_t whom) {
  history_.faults.push_back({kind, {world_.now(), end}, whom});
}

void Nemesis::plan_strike(const Class& what, Chance chance) {
  const Duration gap = chance.between(ttl_ / 4, ttl_ * 4);
  world_.scheduler().after(gap, [this, what, chance]() mutable {
    if (healed_) return;
    (this->*what.strike)(chance);
    plan_strike(what, chance);
  });
}

// A process has its clock and its pauses from its first step on.
void Nemesis::attend(ClientId client) {
  SimEnv& env = world_.client(client).env();
  env.set_clock_rate(plan_.client_rates.at(client.index));
  if (plan_.classes.has(FaultClass::pause)) {
    env.set_pauser([this, client](SimEnv::Moment moment) { return pause_now(client, moment); });
  }
}

bool Nemesis::pause_now(ClientId client, SimEnv::Moment moment) {
  constexpr std::uint32_t kMoreOften = 10;
  const std::uint32_t weight = moment == SimEnv::Moment::worst ? kMoreOften : 1;
  if (healed_ || !pauses_.happens({plan_.pause.value * weight})) return false;
  const Duration duration = a_while(pauses_);
  record(FaultClass::pause, world_.now() + duration, client.index);
  history_.pauses[client.index].push_back({world_.now(), kNever});
  world_.pause(client);
  const std::uint32_t life = world_.client(client).incarnation();
  world_.scheduler().after(duration, [this, client, life] {
    if (world_.client(client).incarnation() == life) resume(client);
  });
  return true;
}

void Nemesis::resume(ClientId client) {
  if (!world_.client(client).env().paused()) return;
  history_.pauses[client.index].back().end = world_.now();
  world_.resume(client);
}

HostId Nemesis::any_server(Chance& chance) const {
  const std::size_t drawn = chance.below(world_.nodes() + 1);
  return drawn < world_.nodes() ? world_.node_host(drawn) : world_.servers().resource_host;
}

void Nemesis::cut(HostId from, HostId to, Duration duration) {
  world_.cut(from, to);
  world_.scheduler().after(duration, [this, from, to] {
    if (!healed_) world_.mend(from, to);
  });
}

void Nemesis::partition(Chance& chance) {
  const ClientId client = any_client(chance);
  const HostId host = world_.client_host(client);
  const HostId server = any_server(chance);
  const Duration duration = a_while(chance);
  record(FaultClass::partition, world_.now() + duration, client.index);
  cut(host, server, duration);
  cut(server, host, duration);
}

void Nemesis::one_way(Chance& chance) {
  const ClientId client = any_client(chance);
  const HostId host = world_.client_host(client);
  const HostId server = any_server(chance);
  const Duration duration = a_while(chance);
  record(FaultClass::one_way, world_.now() + duration, client.index);
  if (chance.below(2) == 0) {
    cut(host, server, duration);
  } else {
    cut(server, host, duration);
  }
}

void Nemesis::clog(Chance& chance) {
  const ClientId client = any_client(chance);
  const HostId host = world_.client_host(client);
  const HostId server = any_server(chance);
  const TimePoint until = world_.now() + a_while(chance);
  record(FaultClass::clog, until, client.index);
  const bool requests = chance.below(2) == 0;
  const HostId from = requests ? host : server;
  const HostId to = requests ? server : host;
  TimePoint& clogged_until = world_.network().way(from, to).clogged_until;
  clogged_until = std::max(clogged_until, until);
  world_.note(EventKind::cut, from, to, "clogged");
}

void Nemesis::crash(Chance& chance) {
  const ClientId client = any_client(chance);
  const Duration duration = a_while(chance);
  if (down_[client.index]) return;
  record(FaultClass::crash, world_.now() + duration, client.index);
  resume(client);
  crashes_[client.index].push_back(world_.now());
  down_[client.index] = true;
  world_.kill(client);
  world_.scheduler().after(duration, [this, client] { revive(client); });
}

void Nemesis::revive(ClientId client) {
  if (!down_[client.index]) return;
  down_[client.index] = false;
  world_.restart(client);
  attend(client);
  started_(client);
}

TimePoint Nemesis::crashed_at(std::size_t client, std::uint32_t incarnation) const {
  const auto& times = crashes_.at(client);
  return incarnation < times.size() ? times[incarnation] : kNever;
}

void Nemesis::stop_node(std::size_t node, Duration duration, std::optional<Data> data) {
  world_.stop_node(node);
  starts_with_[node] = data;
  world_.scheduler().after(duration, [this, node] {
    if (!world_.servers().up(node)) world_.start_node(node, starts_with_[node]);
  });
}

void Nemesis::restart(Chance& chance) {
  const std::size_t node = any_node(chance);
  const Duration duration = a_while(chance) / 4;
  if (!world_.servers().up(node)) return;
  record(FaultClass::restart, world_.now() + duration, node);
  stop_node(node, duration, Data::kept);
}

void Nemesis::lose_data(Chance& chance) {
  const std::size_t node = any_node(chance);
  const Duration duration = a_while(chance) / 4;
  if (!world_.node(node).up()) return;
  record(FaultClass::data_loss, world_.now() + duration, node);
  stop_node(node, duration, std::nullopt);
}

void Nemesis::promote(Chance& chance) {
  const std::size_t node = any_node(chance);
  if (!world_.servers().up(node)) return;
  record(FaultClass::promotion, world_.now(), node);
  world_.note(EventKind::started, world_.node_host(node), {}, "replica");
  world_.servers().promote_replica(node);
}

void Nemesis::step_clock(Chance& chance) {
  const std::size_t node = any_node(chance);
  const Duration by = chance.between(-ttl_ * 2, ttl_ * 2);
  const bool back = by < Duration{0};
  const Duration step = back && !plan_.clocks_go_back ? -by : by;
  // A clock that goes back only makes locks last longer.
  if (step > Duration{0}) record(FaultClass::clock_step, world_.now(), node);
  world_.note(EventKind::clock_changed, world_.node_host(node));
  world_.servers().step_clock(node, step);
}

void Nemesis::sync_disks() {
  for (std::size_t i = 0; i < world_.nodes(); ++i) world_.node(i).sync();
  world_.scheduler().after(std::chrono::seconds{1}, [this] {
    if (!healed_) sync_disks();
  });
}

void Nemesis::replicate() {
  for (std::size_t i = 0; i < world_.nodes(); ++i) world_.servers().replicate(i);
  world_.scheduler().after(replication_.between(ttl_ / 50, ttl_ / 2), [this] {
    if (!healed_) replicate();
  });
}

void Nemesis::heal() {
  healed_ = true;
  history_.healed_at = world_.now();
  world_.note(EventKind::healed, {});
  world_.set_faults({});
  for (Fault& fault : history_.faults) {
    if (fault.kind == FaultClass::client_drift) continue;
    fault.when.end = std::min(fault.when.end, std::max(fault.when.begin, world_.now()));
  }
  if (world_.servers().zookeeper) world_.zookeeper().set_lag({});
  for (std::size_t i = 0; i < world_.nodes(); ++i) {
    if (!world_.servers().up(i)) world_.start_node(i, starts_with_[i]);
    world_.servers().set_clock_rate(i, {});
    world_.servers().rejoin(i);
  }
  world_.network().mend_all();
  for (std::size_t i = 0; i < world_.clients(); ++i) {
    resume({i});
    revive({i});
  }
}

}  // namespace holdfast::sim
