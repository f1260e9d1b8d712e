#include "tests/scenarios/sim_locks.h"

#include <algorithm>
#include <utility>

#include "base/alarm.h"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

/// As good as for ever in a world that lasts minutes.
constexpr Duration kAges = 24h;
constexpr Duration kReleasePatience = 2s;

}  // namespace

RecipeWorld::RecipeWorld(std::uint64_t seed, const Protocol& protocol, Millis ttl)
    : ttl_{ttl}, servers_{protocol.servers} {
  const Pace pace{.timeout = ttl / 10, .patience = ttl / 2};
  const auto make = protocol.make;
  WorldOptions options;
  options.engine = [this, make, pace](Env& env, Ports ports) {
    auto engine = make(env, std::move(ports), pace);
    engines_[&env] = engine;
    return engine;
  };
  options.servers = protocol.servers;
  options.nodes = protocol.nodes;
  options.prepare = protocol.prepare;
  world_ = std::make_unique<World>(seed, std::move(options));
}

ClientId RecipeWorld::trouble(Chance& chance) {
  const bool repeats = servers_ == ServerKind::redis;
  world_->set_faults({.slow_max = ttl_,
                      .slow = {20},
                      .lose_request = {30},
                      .lose_reply = {30},
                      .repeat = {repeats ? 30U : 0U}});
  for (int strike = 0; strike < 4; ++strike) {
    world_->advance(chance.between(Duration{0}, ttl_));
    const ClientId victim{chance.below(world_->clients())};
    world_->pause(victim);
    world_->advance(chance.between(Duration{0}, ttl_ * 2));
    world_->resume(victim);
  }
  const ClientId victim{chance.below(world_->clients())};
  world_->kill(victim);
  world_->set_faults({});
  return victim;
}

/// Where one task waits for several others.
struct SimLocks::Gathering {
  Gathering(Env& env, std::size_t count) : missing{count}, answers(count), alarm{env} {}

  void arrive() {
    if (--missing == 0) alarm.ring();
  }

  std::size_t missing;
  std::vector<std::optional<Taken>> answers;
  Alarm alarm;
};

Task<SimLocks::Taken> SimLocks::take_one(std::string name, AcquireOptions options) {
  const Duration patience = std::min<Duration>(std::min<Millis>(options.wait, 24h), kAges);
  const LockName lock{std::move(name)};
  const core::Claim claim{.mode = options.mode, .permits = options.permits};
  if (options.kind == LeaseKind::session) {
    auto kept = co_await process_.acquire(lock, options.ttl, patience, claim);
    if (!kept) co_return Unexpected{std::move(kept).error()};
    co_return Lease{.kept = *std::move(kept), .detached = {}};
  }
  const core::LeaseSession::Wanted wanted{.name = lock, .ttl = options.ttl, .claim = claim};
  const std::stop_token never;
  auto taken = co_await process_.session().acquire_detached(wanted, now() + patience, never);
  if (!taken) co_return Unexpected{std::move(taken).error()};
  co_return Lease{.kept = {}, .detached = *std::move(taken)};
}

Task<void> SimLocks::take(std::string name,
                          AcquireOptions options,
                          std::size_t index,
                          std::shared_ptr<Gathering> gathering) {
  auto answer = co_await take_one(std::move(name), options);
  gathering->answers[index].emplace(std::move(answer));
  gathering->arrive();
}

Task<std::vector<SimLocks::Taken>> SimLocks::take_each(std::vector<std::string> names,
                                                       AcquireOptions options,
                                                       std::stop_token,
                                                       std::vector<Lease>&) {
  const auto gathering = std::make_shared<Gathering>(process_.env(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    process_.env().spawn(take(names[i], options, i, gathering));
  }
  co_await gathering->alarm.wait_until(TimePoint::max());
  std::vector<Taken> taken;
  for (auto& answer : gathering->answers) taken.push_back(*std::move(answer));
  co_return taken;
}

Task<ReleaseOutcome> SimLocks::release(Lease& lease) {
  if (lease.kept) {
    const LeaseView kept = *lease.kept;
    co_return co_await process_.release(kept, kReleasePatience);
  }
  const auto engine = world_.engine(process_.env());
  const core::LeaseSession::Detached& detached = *lease.detached;
  co_return co_await engine->release(
      detached.lease, detached.grant.valid_until, now() + kReleasePatience);
}

Task<void> SimLocks::give_back_one(Lease lease, std::shared_ptr<Gathering> gathering) {
  co_await release(lease);
  gathering->arrive();
}

Task<void> SimLocks::give_back(std::vector<Lease> leases) {
  if (leases.empty()) co_return;
  const auto gathering = std::make_shared<Gathering>(process_.env(), leases.size());
  for (Lease& lease : leases) process_.env().spawn(give_back_one(std::move(lease), gathering));
  co_await gathering->alarm.wait_until(TimePoint::max());
}

bool SimLocks::stands(const Lease& lease) const {
  if (!lease.kept) return now() < lease.detached->grant.valid_until;
  const LeaseState state = lease.kept->state();
  return state == LeaseState::held || state == LeaseState::jeopardy;
}

}  // namespace holdfast::sim
