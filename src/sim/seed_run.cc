#include "sim/seed_run.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/decimal.h"
#include "sim/faults/nemesis.h"
#include "sim/workload.h"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::array<Millis, 3> kTtls{500ms, 2s, 10s};

class SeedRun {
 public:
  SeedRun(std::uint64_t seed, const SeedOptions& options);

  SeedReport run();

 private:
  WorldOptions world_options() const;
  Manner manner() const;
  FaultSet faults() const { return options_.faults.both(options_.protocol->faults); }
  Cast cast() const;

  void watch_nodes();
  void note_step(std::size_t node, const ScriptRun& run);
  bool run_until_idle(Duration limit);
  void run_world();
  SeedReport report();

  std::uint64_t seed_;
  SeedOptions options_;
  Millis ttl_;
  FaultPlan plan_;
  World world_;
  History history_;
  Workload workload_;
  Nemesis nemesis_;
};

Millis drawn_ttl(std::uint64_t seed) { return kTtls.at(Chance{~seed}.below(kTtls.size())); }

Cast SeedRun::cast() const {
  const std::size_t nodes = options_.nodes == 0 ? options_.protocol->nodes : options_.nodes;
  return {.nodes = nodes, .clients = options_.clients};
}

WorldOptions SeedRun::world_options() const {
  const auto make = options_.mutant != nullptr && options_.mutant->make != nullptr
                        ? options_.mutant->make
                        : options_.protocol->make;
  const Pace pace{.timeout = ttl_ / 10};
  return {
      .engine = [make, pace](Env& env, Ports ports) { return make(env, std::move(ports), pace); },
      .nodes = cast().nodes,
      .locks = kLocks.size(),
      .persistence = plan_.persistence,
      .trace = options_.trace};
}

Manner SeedRun::manner() const {
  Manner manner{.ttl = ttl_, .resource = options_.protocol->resource};
  if (options_.mutant != nullptr) {
    manner.habits = options_.mutant->habits;
    if (options_.mutant->resource == Register::unfenced) manner.resource = Register::unfenced;
  }
  return manner;
}

World& populated(World& world, std::size_t clients) {
  for (std::size_t i = 0; i < clients; ++i) world.add_client("client" + std::to_string(i));
  return world;
}

SeedRun::SeedRun(std::uint64_t seed, const SeedOptions& options)
    : seed_{seed},
      options_{options},
      ttl_{drawn_ttl(seed)},
      plan_{draw_plan(seed, faults(), ttl_, cast())},
      world_{seed, world_options()},
      workload_{populated(world_, options.clients), manner(), history_},
      nemesis_{world_, seed, plan_, ttl_, history_, [this](ClientId id) { workload_.start(id); }} {}

// What the servers say of owners, for the checker of repeated grants. Mutants run scripts of their
// own, which are told by what they take and answer.
void SeedRun::note_step(std::size_t node, const ScriptRun& run) {
  using Kind = redis::Reply::Kind;
  const redis::ScriptCall& call = run.call;
  const redis::Reply& reply = run.reply;
  const bool granted = reply.items.size() == 2 && reply.items[1].kind == Kind::text;
  const bool removed = call.args.size() == 1 && reply.integer == 1;
  if (!granted && !removed) return;
  NodeStep step{.node = node,
                .kind = granted ? NodeStep::Kind::granted : NodeStep::Kind::removed,
                .lock = call.keys[0].ends_with(kLocks[0]) ? std::size_t{0} : std::size_t{1},
                .owner = call.args[0],
                .at = run.at,
                .era = run.era};
  if (granted) {
    step.grant = Token{parse_decimal<std::uint64_t>(reply.items[1].text).value_or(0)};
    step.until = step.at + Millis{parse_decimal<std::int64_t>(call.args[1]).value_or(0)};
  }
  history_.node_steps.push_back(std::move(step));
}

void SeedRun::watch_nodes() {
  for (std::size_t i = 0; i < world_.nodes(); ++i) {
    world_.node(i).observe([this, i](const ScriptRun& run) { note_step(i, run); });
  }
}

bool SeedRun::run_until_idle(Duration limit) {
  return world_.scheduler().run_until(
      [this] { return workload_.idle() || world_.trace().count() >= options_.stop_after; }, limit);
}

void SeedRun::run_world() {
  watch_nodes();
  nemesis_.start();
  for (std::size_t i = 0; i < world_.clients(); ++i) workload_.start({i});
  const std::uint64_t enough = std::min(options_.events, options_.stop_after);
  world_.scheduler().run_until([&] { return world_.trace().count() >= enough; }, ttl_ * 1000);
  workload_.stop();
  if (world_.trace().count() >= options_.stop_after) return;
  nemesis_.heal();
  history_.idle = run_until_idle(ttl_ * 50);
  if (!history_.idle) return;
  if (world_.trace().count() >= options_.stop_after) {
    history_.healed_at = kNever;
    return;
  }
  // The demand comes after healing, not with it.
  world_.advance(ttl_);
  workload_.demand_progress();
  history_.idle = run_until_idle(ttl_ * 100);
  // A prefix of the demand shows nothing: it was cut off.
  if (world_.trace().count() >= options_.stop_after) history_.healed_at = kNever;
}

SeedReport SeedRun::report() {
  SeedReport report{.seed = seed_,
                    .trace_hash = world_.trace().hash(),
                    .events = world_.trace().count(),
                    .drawn = plan_.classes};
  for (const Acquisition& acquisition : history_.acquisitions) {
    report.grants += acquisition.granted() ? 1 : 0;
    report.losses += acquisition.loss != LossReason::none ? 1 : 0;
  }
  for (const Operation& operation : history_.operations) {
    report.refused_stale += operation.outcome == Outcome::refused ? 1 : 0;
    report.writes += operation.verb == Verb::write && operation.outcome == Outcome::ok ? 1 : 0;
  }
  Judgement judgement = judge(history_, options_.protocol->resource);
  report.lost_updates = judgement.lost_updates;
  report.breaches = judgement.breaches;
  report.violations = std::move(judgement.violations);
  report.trace = world_.trace().events();
  if (options_.trace == Trace::Keep::nothing) return report;
  report.hosts.push_back({world_.servers().resource_host, "resource"});
  for (std::size_t i = 0; i < world_.nodes(); ++i) {
    report.hosts.push_back({world_.node_host(i), "node" + std::to_string(i)});
  }
  for (std::size_t i = 0; i < world_.clients(); ++i) {
    report.hosts.push_back({world_.client_host({i}), world_.client({i}).name()});
  }
  return report;
}

SeedReport SeedRun::run() {
  run_world();
  history_.ended_at = world_.now();
  workload_.close(
      [this](std::size_t client, std::uint32_t life) { return nemesis_.crashed_at(client, life); });
  history_.served = world_.servers().resource.log();
  for (std::size_t lock = 0; lock < kLocks.size(); ++lock) {
    history_.final_values.push_back(world_.servers().resource.value(lock));
  }
  return report();
}

}  // namespace

SeedReport run_seed(std::uint64_t seed, const SeedOptions& options) {
  return SeedRun{seed, options}.run();
}

}  // namespace holdfast::sim
