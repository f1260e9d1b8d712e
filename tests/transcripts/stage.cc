#include "tests/transcripts/stage.h"

#include <algorithm>

#include "tests/transcripts/words.h"

namespace holdfast::transcripts {
namespace {

using std::chrono::milliseconds;

// Every message takes as long, so that what is to be seen is not hidden among small numbers.
constexpr Duration kDelay = milliseconds{1};
// For what is under way when an operation ends: two round trips and what they entail.
constexpr Duration kMoment = milliseconds{10};
constexpr Duration kHang = std::chrono::minutes{5};
constexpr std::size_t kLocks = 4;

std::unique_ptr<sim::World> make_world(const Setup& setup) {
  const auto maker = [make = setup.protocol->make, pace = setup.pace](Env& env, sim::Ports ports) {
    return make(env, std::move(ports), pace);
  };
  auto world = std::make_unique<sim::World>(setup.seed,
                                            sim::WorldOptions{.engine = maker,
                                                              .nodes = setup.nodes,
                                                              .locks = kLocks,
                                                              .trace = sim::Trace::Keep::events,
                                                              .prepare = setup.protocol->prepare});
  world->set_faults({.delay_min = kDelay, .delay_max = kDelay});
  for (const std::string& name : setup.clients) world->add_client(name);
  return world;
}

}  // namespace

Stage::Stage(Setup setup)
    : setup_{std::move(setup)},
      under_way_(setup_.clients.size(), 0),
      world_{make_world(setup_)},
      witness_{std::make_unique<Witness>(*world_, journal_, setup_.clients)} {}

Result<sim::ClientId> Stage::client(std::string_view name) const {
  const auto found = std::ranges::find(setup_.clients, name);
  if (found != setup_.clients.end()) {
    return sim::ClientId{static_cast<std::size_t>(found - setup_.clients.begin())};
  }
  return wrong("there is no client '" + std::string{name} + "'");
}

Result<std::size_t> Stage::node(std::string_view name) const {
  for (std::size_t i = 0; i < setup_.nodes; ++i) {
    if (node_name(i) == name) return i;
  }
  return wrong("there is no node '" + std::string{name} + "'");
}

Result<sim::HostId> Stage::host(std::string_view name) const {
  if (name == "resource") return world_->servers().resource_host;
  if (const auto index = node(name)) return world_->node_host(*index);
  if (const auto id = client(name)) return world_->client_host(*id);
  return wrong("there is no client and no node '" + std::string{name} + "'");
}

void Stage::say(std::string words) {
  look();
  journal_.add(world_->now(), std::move(words));
}

void Stage::show(const std::string& line) { shown_ += line + "\n"; }

Task<void> Stage::counted(std::size_t client, Task<void> task) {
  // Also when the process is killed in the middle of it.
  struct Count {
    explicit Count(int& count_in) : count{count_in} { ++count; }
    ~Count() { --count; }
    Count(const Count&) = delete;
    Count& operator=(const Count&) = delete;
    int& count;
  };
  const Count count{under_way_[client]};
  co_await std::move(task);
}

Result<void> Stage::begin(sim::ClientId id, Task<void> task) {
  sim::SimEnv& env = world_->client(id).env();
  if (env.killed()) return wrong(name(id) + " has crashed");
  stir();
  env.spawn(counted(id.index, std::move(task)));
  return {};
}

bool Stage::settled() const {
  for (std::size_t i = 0; i < under_way_.size(); ++i) {
    if (under_way_[i] > 0 && !world_->client({i}).env().paused()) return false;
  }
  return true;
}

Result<void> Stage::settle() {
  if (!std::exchange(stirred_, false)) return {};
  // Lets tasks that have just begun take their first step.
  world_->advance(Duration{0});
  if (!world_->scheduler().run_until([this] { return settled(); }, kHang)) {
    return Unexpected{Error{Errc::internal, "no answer within five minutes: something hangs"}};
  }
  world_->advance(kMoment);
  return {};
}

std::string Stage::take_outcome() {
  look();
  std::string outcome = journal_.take() + std::exchange(shown_, {});
  return outcome.empty() ? "ok\n" : outcome;
}

void Stage::crash(sim::ClientId id) {
  std::erase_if(holdings_, [id](const auto& entry) { return entry.first.first == id.index; });
  world_->kill(id);
}

void Stage::keep(sim::ClientId id, const std::string& lock, sim::LeaseView lease) {
  Holding holding{.lease = std::move(lease), .holder = ++last_holder_};
  holdings_.insert_or_assign({id.index, lock}, std::move(holding));
}

Result<Holding*> Stage::holding(sim::ClientId id, const std::string& lock) {
  const auto found = holdings_.find({id.index, lock});
  if (found != holdings_.end()) return &found->second;
  return wrong(name(id) + " has had no lease of '" + lock + "'");
}

Result<std::size_t> Stage::value_of(const std::string& lock) {
  auto found = std::ranges::find(guarded_, lock);
  if (found == guarded_.end()) {
    if (guarded_.size() == kLocks) return wrong("the resource has no room for another lock");
    found = guarded_.insert(found, lock);
  }
  return static_cast<std::size_t>(found - guarded_.begin());
}

}  // namespace holdfast::transcripts
