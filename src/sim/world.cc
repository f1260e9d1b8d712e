#include "sim/world.h"

#include <utility>

#include "base/assert.h"

namespace holdfast::sim {
namespace {

// How long a client goes on asking an engine that does not answer.
constexpr Duration kPatience = std::chrono::seconds{10};
// No operation takes longer than its patience; more than this is a hang.
constexpr Duration kHang = std::chrono::minutes{5};

Task<void> acquire_into(SimClient& client, LockName name, Millis ttl, Awaited<Acquired> answer) {
  Acquired acquired = co_await client.acquire(std::move(name), ttl, kPatience);
  answer->emplace(std::move(acquired));
}

Task<void> release_into(SimClient& client, LeaseView lease, Awaited<ReleaseOutcome> answer) {
  const ReleaseOutcome outcome = co_await client.release(std::move(lease), kPatience);
  answer->emplace(outcome);
}

}  // namespace

World::World(std::uint64_t seed, redis::Settings settings)
    : settings_{std::move(settings)},
      chance_{seed},
      network_{scheduler_, chance_.draw()},
      node_{scheduler_, trace_} {}

World::~World() { scheduler_.clear(); }

ClientId World::add_client(std::string name) {
  const SimClient::Place place{scheduler_, network_, node_, trace_};
  clients_.push_back(
      std::make_unique<SimClient>(std::move(name), place, chance_.draw(), settings_));
  return {clients_.size() - 1};
}

void World::pause(ClientId id) { client(id).env().pause(); }
void World::resume(ClientId id) { client(id).env().resume(); }
void World::kill(ClientId id) { client(id).kill(); }

Awaited<Acquired> World::start_acquire(ClientId id, std::string_view name, Millis ttl) {
  auto answer = std::make_shared<std::optional<Acquired>>();
  client(id).env().spawn(acquire_into(client(id), LockName{std::string{name}}, ttl, answer));
  return answer;
}

Awaited<ReleaseOutcome> World::start_release(ClientId id, const LeaseView& lease) {
  auto answer = std::make_shared<std::optional<ReleaseOutcome>>();
  client(id).env().spawn(release_into(client(id), lease, answer));
  return answer;
}

Acquired World::acquire(ClientId id, std::string_view name, Millis ttl) {
  const auto answer = start_acquire(id, name, ttl);
  const bool answered = scheduler_.run_until([&] { return answer->has_value(); }, kHang);
  HOLDFAST_ASSERT(answered);
  return **answer;
}

LeaseView World::must_acquire(ClientId id, std::string_view name, Millis ttl) {
  const Acquired acquired = acquire(id, name, ttl);
  HOLDFAST_ASSERT(acquired.has_value());
  return *acquired;
}

ReleaseOutcome World::release(ClientId id, const LeaseView& lease) {
  const auto answer = start_release(id, lease);
  const bool answered = scheduler_.run_until([&] { return answer->has_value(); }, kHang);
  HOLDFAST_ASSERT(answered);
  return **answer;
}

}  // namespace holdfast::sim
