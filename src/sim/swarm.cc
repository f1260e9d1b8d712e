#include "sim/swarm.h"

#include <algorithm>
#include <array>
#include <utility>

#include "sim/checkers/exclusion.h"
#include "sim/checkers/idempotency.h"
#include "sim/checkers/loss_in_time.h"
#include "sim/checkers/token_order.h"
#include "sim/fault_plan.h"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::array<Millis, 3> kTtls{400ms, 2s, 10s};
constexpr std::array<std::string_view, 2> kLocks{"left", "right"};

class Swarm {
 public:
  Swarm(std::uint64_t seed, const SwarmOptions& options);

  SwarmReport run();

 private:
  /// A grant whose end is not known yet.
  struct Open {
    GrantRecord record;
    LeaseView lease;
    TimePoint released_at{TimePoint::max()};
  };

  bool alive(std::size_t client) const;
  /// Whether everybody alive has done their work.
  bool idle() const;
  Task<void> work(std::size_t index, Chance chance);
  std::size_t note_grant(std::size_t client, std::string lock, TimePoint asked_at, LeaseView lease);
  void close_history();
  void demand_progress();
  void judge();

  SwarmOptions options_;
  World world_;
  Millis ttl_;
  FaultPlan plan_;
  History history_;
  Nemesis nemesis_;
  std::vector<Open> open_;
  std::vector<bool> finished_;
  SwarmReport report_;
};

FaultPlan plan_for(World& world, Duration ttl, const SwarmOptions& options) {
  FaultPlan plan = draw_plan(world.chance(), ttl);
  plan.clock_rate = options.clock_rate.value_or(plan.clock_rate);
  return plan;
}

Swarm::Swarm(std::uint64_t seed, const SwarmOptions& options)
    : options_{options},
      world_{seed},
      ttl_{kTtls.at(world_.chance().below(kTtls.size()))},
      plan_{plan_for(world_, ttl_, options)},
      nemesis_{world_, plan_, ttl_, options.clients, history_},
      finished_(options.clients, false) {}

bool Swarm::alive(std::size_t client) const {
  return nemesis_.killed_at(client) == TimePoint::max();
}

bool Swarm::idle() const {
  for (std::size_t client = 0; client < options_.clients; ++client) {
    if (alive(client) && !finished_[client]) return false;
  }
  return true;
}

std::size_t Swarm::note_grant(std::size_t client,
                              std::string lock,
                              TimePoint asked_at,
                              LeaseView lease) {
  GrantRecord record;
  record.client = client;
  record.lock = std::move(lock);
  record.token = lease.token();
  record.owner = lease.owner();
  record.asked_at = asked_at;
  record.held.begin = world_.now();
  open_.push_back({std::move(record), std::move(lease)});
  return open_.size() - 1;
}

Task<void> Swarm::work(std::size_t index, Chance chance) {
  SimClient& client = world_.client({index});
  for (int round = 0; round < options_.rounds; ++round) {
    co_await client.env().sleep_for(chance.between(0s, ttl_ / 2));
    const LockName lock{std::string{kLocks.at(chance.below(kLocks.size()))}};
    const TimePoint asked_at = world_.now();
    const Acquired acquired = co_await client.acquire(lock, ttl_, ttl_);
    if (!acquired) continue;
    const std::size_t grant = note_grant(index, lock.text(), asked_at, *acquired);
    co_await client.env().sleep_for(chance.between(0s, ttl_ * 2));
    open_[grant].released_at = world_.now();
    co_await client.release(*acquired, ttl_);
  }
  finished_[index] = true;
}

void Swarm::close_history() {
  for (const Open& open : open_) {
    GrantRecord record = open.record;
    const TimePoint killed_at = nemesis_.killed_at(record.client);
    record.held.end = std::min({open.released_at, open.lease.valid_until(), killed_at});
    const auto& heard = open.lease.heard();
    if (!heard.empty() && heard.back().event.state == LeaseState::lost) {
      record.loss = heard.back().event.reason;
      record.loss_heard_at = heard.back().when;
      ++report_.losses;
    }
    history_.grants.push_back(std::move(record));
  }
}

// After every fault is over and every TTL has passed, everybody alive gets every lock.
void Swarm::demand_progress() {
  nemesis_.heal();
  const bool done = world_.scheduler().run_until([this] { return idle(); }, ttl_ * 200);
  if (!done) report_.violations.push_back({"progress", "a client hangs"});
  world_.advance(ttl_ * 3);
  for (std::size_t client = 0; client < options_.clients; ++client) {
    if (!alive(client)) continue;
    for (const std::string_view lock : kLocks) {
      const Acquired acquired = world_.acquire({client}, lock, ttl_);
      if (!acquired) {
        report_.violations.push_back({"progress", "a healed world refuses a free lock"});
      } else if (world_.release({client}, *acquired) != ReleaseOutcome::released) {
        report_.violations.push_back({"progress", "a healed world does not release"});
      }
    }
  }
}

void Swarm::judge() {
  const auto add = [this](Violations found) {
    report_.violations.insert(report_.violations.end(), found.begin(), found.end());
  };
  report_.data = world_.node().data_epoch() > 0 ? Data::lost : Data::kept;
  if (report_.data == Data::kept) add(check_exclusion(history_));
  add(check_token_order(history_));
  add(check_loss_in_time(history_, report_.data));
  add(check_idempotency(world_.node().executions()));
  report_.trace_hash = world_.trace().hash();
  report_.events = world_.trace().events();
  report_.grants = history_.grants.size();
}

SwarmReport Swarm::run() {
  for (std::size_t i = 0; i < options_.clients; ++i) {
    world_.add_client("client" + std::to_string(i));
  }
  nemesis_.start();
  for (std::size_t i = 0; i < options_.clients; ++i) {
    world_.client({i}).env().spawn(work(i, Chance{world_.chance().draw()}));
  }
  world_.advance(ttl_ * 3 * options_.rounds);
  demand_progress();
  close_history();
  judge();
  return std::move(report_);
}

}  // namespace

SwarmReport run_swarm(std::uint64_t seed, const SwarmOptions& options) {
  return Swarm{seed, options}.run();
}

}  // namespace holdfast::sim
