#include "sim/faults/fault_plan.h"

namespace holdfast::sim {
namespace {

// How often a seed has a class.
constexpr PerMille kUsual{350};
// Those that excuse two holders at once are rarer, so that most seeds excuse nothing.
constexpr PerMille kExcusing{120};

constexpr std::int64_t kDriftPpm = 200'000;

PerMille up_to(Chance& chance, std::uint32_t most) {
  return {static_cast<std::uint32_t>(1 + chance.below(most))};
}

ClockRate either_way(Chance& chance, std::int64_t most) {
  const auto span = static_cast<std::uint64_t>(2 * most + 1);
  return {static_cast<std::int64_t>(chance.below(span)) - most};
}

// From another stream than how bad it is: the seeds that have a class would all have it mild.
bool drawn(std::uint64_t seed, FaultClass kind) {
  Chance chance = chance_of(~seed, kind);
  return chance.happens(may_break_exclusion(kind) ? kExcusing : kUsual);
}

FaultSet draw_classes(std::uint64_t seed, FaultSet allowed) {
  FaultSet classes;
  for (std::size_t i = 0; i < kFaultClasses; ++i) {
    const auto kind = static_cast<FaultClass>(i);
    if (allowed.has(kind) && drawn(seed, kind)) classes = classes.with(kind);
  }
  return classes;
}

NetworkFaults draw_network(std::uint64_t seed, FaultSet classes, Duration ttl) {
  NetworkFaults faults;
  faults.slow_max = ttl * 3 / 2;
  Chance loss = chance_of(seed, FaultClass::loss);
  Chance delay = chance_of(seed, FaultClass::delay);
  Chance duplication = chance_of(seed, FaultClass::duplication);
  if (classes.has(FaultClass::loss)) {
    faults.lose_request = up_to(loss, 200);
    faults.lose_reply = up_to(loss, 200);
  }
  if (classes.has(FaultClass::delay)) faults.slow = up_to(delay, 120);
  if (classes.has(FaultClass::duplication)) faults.repeat = up_to(duplication, 120);
  return faults;
}

}  // namespace

Chance chance_of(std::uint64_t seed, FaultClass kind) {
  Chance chance{seed ^ (static_cast<std::uint64_t>(kind) + 1) << 56};
  return Chance{chance.draw()};
}

FaultPlan draw_plan(std::uint64_t seed, FaultSet allowed, Duration ttl, const Cast& cast) {
  FaultPlan plan;
  plan.classes = draw_classes(seed, allowed);
  plan.network = draw_network(seed, plan.classes, ttl);
  Chance pause = chance_of(seed, FaultClass::pause);
  if (plan.classes.has(FaultClass::pause)) plan.pause = up_to(pause, 15);
  Chance loss = chance_of(seed, FaultClass::data_loss);
  if (plan.classes.has(FaultClass::data_loss)) {
    plan.persistence = loss.happens(kUsual) ? Persistence::none : Persistence::everysec;
  }
  Chance drift = chance_of(seed, FaultClass::clock_drift);
  const bool drifts = plan.classes.has(FaultClass::clock_drift);
  for (std::size_t i = 0; i < cast.nodes; ++i) {
    plan.node_rates.push_back(either_way(drift, drifts ? kDriftPpm : kAllowedPpm));
  }
  Chance slow = chance_of(seed, FaultClass::client_drift);
  for (std::size_t i = 0; i < cast.clients; ++i) {
    ClockRate rate = either_way(slow, kAllowedPpm);
    const auto extra = static_cast<std::int64_t>(slow.below(kDriftPpm));
    if (plan.classes.has(FaultClass::client_drift)) rate.ppm -= extra;
    plan.client_rates.push_back(rate);
  }
  plan.clocks_go_back =
      !plan.classes.has(FaultClass::data_loss) && !plan.classes.has(FaultClass::promotion);
  return plan;
}

}  // namespace holdfast::sim
