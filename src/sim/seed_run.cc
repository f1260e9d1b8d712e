#include "sim/seed_run.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engines/redis/redis_reply.h"
#include "sim/faults/nemesis.h"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::array<Millis, 3> kTtls{500ms, 2s, 10s};

// Under the prefix that engines have by default.
constexpr std::array<std::string_view, kLocks.size()> kLockKeys{"hf:lock0", "hf:lock1"};
constexpr std::array<std::string_view, kLocks.size()> kLockRows{"hf/lock0", "hf/lock1"};

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
  void note_steps(std::size_t node, const ScriptRun& run);
  void note_steps(const LeaseTables& tables, WallTime now);
  /// `value`: `<owner>:…` of the grant that stands, empty when none does.
  void note_grant(NodeStep step, std::string_view value);
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
  /// The value of each lock at each node after the last script.
  std::vector<std::string> known_;
};

Pace pace_of(Millis ttl) { return {.timeout = ttl / 10, .patience = ttl / 2}; }

Millis drawn_ttl(std::uint64_t seed, const Protocol& protocol) {
  return std::max(kTtls.at(Chance{~seed}.below(kTtls.size())), protocol.ttl_min);
}

Cast SeedRun::cast() const {
  const std::size_t nodes = options_.nodes == 0 ? options_.protocol->nodes : options_.nodes;
  return {.nodes = nodes, .clients = options_.clients};
}

WorldOptions SeedRun::world_options() const {
  const auto make = options_.mutant != nullptr && options_.mutant->make != nullptr
                        ? options_.mutant->make
                        : options_.protocol->make;
  const Pace pace = pace_of(ttl_);
  return {
      .engine = [make, pace](Env& env, Ports ports) { return make(env, std::move(ports), pace); },
      .servers = options_.protocol->servers,
      .nodes = cast().nodes,
      .locks = kLocks.size(),
      .persistence = plan_.persistence,
      .trace = options_.trace,
      .prepare = options_.mutant != nullptr && options_.mutant->prepare != nullptr
                     ? options_.mutant->prepare
                     : options_.protocol->prepare};
}

Manner SeedRun::manner() const {
  Manner manner{.ttl = ttl_,
                .pace = pace_of(ttl_),
                .resource = options_.protocol->resource,
                .work = options_.work};
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
      ttl_{drawn_ttl(seed, *options.protocol)},
      plan_{draw_plan(seed, faults(), ttl_, cast())},
      world_{seed, world_options()},
      workload_{populated(world_, options.clients), manner(), history_},
      nemesis_{world_, seed, plan_, ttl_, history_, [this](ClientId id) { workload_.start(id); }},
      known_(world_.nodes() * kLocks.size()) {}

void SeedRun::note_grant(NodeStep step, std::string_view value) {
  std::string& known = known_[step.node * kLocks.size() + step.lock];
  if (value == known) return;
  const auto owner_of = [](std::string_view text) { return text.substr(0, text.find(':')); };
  if (!known.empty() && owner_of(known) != owner_of(value)) {
    NodeStep removed = step;
    removed.kind = NodeStep::Kind::removed;
    removed.owner = owner_of(known);
    history_.node_steps.push_back(std::move(removed));
  }
  known = value;
  if (value.empty()) return;
  step.owner = owner_of(value);
  history_.node_steps.push_back(std::move(step));
}

// What a script did to the locks, for the checker of repeated grants: mutants run scripts of their
// own, so it is told by the keys and not by what was asked or answered.
void SeedRun::note_steps(std::size_t node, const ScriptRun& run) {
  for (std::size_t lock = 0; lock < kLocks.size(); ++lock) {
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(run.at).count();
    const auto* entry = world_.node(node).model().keyspace().find(kLockKeys.at(lock), now);
    NodeStep step{.node = node, .lock = lock, .owner = {}, .at = run.at, .era = run.era};
    if (entry != nullptr) {
      step.grant = redis::token_of(entry->value).value_or(Token{0});
      step.until = Millis{entry->expires_at};
    }
    note_grant(std::move(step), entry != nullptr ? std::string_view{entry->value} : "");
  }
}

void SeedRun::note_steps(const LeaseTables& tables, WallTime now) {
  for (std::size_t lock = 0; lock < kLocks.size(); ++lock) {
    const auto rows = tables.locks.find(kLockRows.at(lock));
    NodeStep step{.lock = lock, .owner = {}, .at = now, .era = world_.postgres().era()};
    std::string value;
    if (rows != tables.locks.end() && !rows->second.holders.empty()) {
      const HolderRow& holder = rows->second.holders.front();
      step.grant = Token{holder.token};
      step.until = holder.until;
      value = holder.ask.owner + ":" + std::to_string(holder.token);
    }
    note_grant(std::move(step), value);
  }
}

void SeedRun::watch_nodes() {
  for (std::size_t i = 0; i < world_.servers().nodes.size(); ++i) {
    world_.node(i).observe([this, i](const ScriptRun& run) { note_steps(i, run); });
  }
  if (!world_.servers().postgres) return;
  world_.postgres().observe(
      [this](const LeaseTables& tables, WallTime now) { note_steps(tables, now); });
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
  history_.may_break = options_.protocol->may_break;
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
