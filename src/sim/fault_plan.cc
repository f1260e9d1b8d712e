#include "sim/fault_plan.h"

#include <functional>

namespace holdfast::sim {
namespace {

constexpr PerMille kHalf{500};
constexpr PerMille kQuarter{250};

PerMille up_to(Chance& chance, std::uint32_t most) {
  return {static_cast<std::uint32_t>(chance.below(most + 1))};
}

}  // namespace

FaultPlan draw_plan(Chance& chance, Duration ttl) {
  constexpr std::int64_t kOnePercent = 10'000;
  FaultPlan plan;
  if (chance.happens(kHalf)) plan.network.lose_request = up_to(chance, 300);
  if (chance.happens(kHalf)) plan.network.lose_reply = up_to(chance, 300);
  if (chance.happens(kHalf)) plan.network.slow = up_to(chance, 200);
  plan.network.slow_max = ttl * 3 / 2;
  plan.clock_rate = {static_cast<std::int64_t>(chance.below(2 * kOnePercent + 1)) - kOnePercent};
  plan.pauses = chance.happens(kHalf);
  plan.partitions = chance.happens(kHalf);
  plan.restarts = chance.happens(kHalf);
  plan.data_loss = plan.restarts && chance.happens(kQuarter);
  plan.kills = chance.happens(kQuarter);
  return plan;
}

Nemesis::Nemesis(
    World& world, const FaultPlan& plan, Duration ttl, std::size_t clients, History& history)
    : world_{world},
      plan_{plan},
      ttl_{ttl},
      history_{history},
      chance_{world.chance().draw()},
      killed_at_(clients, TimePoint::max()) {
  history_.pauses.resize(clients);
}

void Nemesis::start() {
  world_.set_faults(plan_.network);
  world_.node().set_clock_rate(plan_.clock_rate);
  world_.scheduler().after(a_while(), [this] { strike(); });
}

void Nemesis::strike() {
  if (healed_) return;
  switch (chance_.below(8)) {
    case 0:
      if (plan_.restarts) restart_node();
      break;
    case 1:
      if (plan_.kills) kill_one();
      break;
    case 2:
    case 3:
      if (plan_.partitions) cut_one_off();
      break;
    default:
      if (plan_.pauses) pause_one();
      break;
  }
  world_.scheduler().after(a_while() / 2, [this] { strike(); });
}

void Nemesis::pause_one() {
  const ClientId client = any_client();
  if (world_.client(client).env().paused()) return;
  history_.pauses[client.index].push_back({world_.now(), TimePoint::max()});
  world_.pause(client);
  world_.scheduler().after(a_while(), [this, client] { resume(client.index); });
}

void Nemesis::resume(std::size_t client) {
  if (!world_.client({client}).env().paused()) return;
  history_.pauses[client].back().end = world_.now();
  world_.resume({client});
}

void Nemesis::cut_one_off() {
  const ClientId client = any_client();
  world_.cut_off(client);
  world_.scheduler().after(a_while(), [this, client] { world_.reconnect(client); });
}

void Nemesis::restart_node() {
  if (!world_.node().up()) return;
  const Data data = plan_.data_loss && chance_.happens(kHalf) ? Data::lost : Data::kept;
  world_.node().stop();
  world_.scheduler().after(a_while() / 4, [this, data] { world_.node().start(data); });
}

void Nemesis::kill_one() {
  const ClientId client = any_client();
  const bool last = client.index == 0;
  if (last || killed_at_[client.index] != TimePoint::max()) return;
  killed_at_[client.index] = world_.now();
  world_.kill(client);
}

void Nemesis::heal() {
  healed_ = true;
  world_.set_faults({});
  if (!world_.node().up()) world_.node().start(Data::kept);
  for (std::size_t client = 0; client < killed_at_.size(); ++client) {
    resume(client);
    world_.reconnect({client});
  }
}

}  // namespace holdfast::sim
