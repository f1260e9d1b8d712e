// Readers, writers, and those that become the other, in worlds where messages are lost, processes
// pause and die: no writer is beside anybody, and nobody writes between what an upgrade has read
// and what it writes.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "recipes/take_read_write.h"
#include "tests/scenarios/sim_locks.h"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

constexpr const char* kName = "catalog";
constexpr std::size_t kClients = 4;
constexpr int kRounds = 4;
/// How long a client reads, writes, or does something else.
constexpr Duration kWhile = 200ms;

/// A process whose intents are nobody else's business: what it would be like without the rule.
class OwnIntents : public SimLocks {
 public:
  OwnIntents(RecipeWorld& world, ClientId client)
      : SimLocks{world, client}, own_{std::to_string(client.index)} {}

  Task<std::vector<Taken>> take_each(std::vector<std::string> names,
                                     AcquireOptions options,
                                     std::stop_token stop,
                                     std::vector<Lease>& held) {
    for (std::string& name : names) name += name == kName ? "" : own_;
    return SimLocks::take_each(std::move(names), options, std::move(stop), held);
  }

 private:
  std::string own_;
};

/// What has happened in a world.
struct Seen {
  int reads{0};
  int writes{0};
  int upgrades{0};
  int downgrades{0};
  /// Upgrades that others were in the way of, and that were readers afterwards.
  int readers_again{0};
  /// Upgrades and downgrades that were told that somebody may have written.
  int told_of_loss{0};
  /// A writer beside somebody else.
  int overlaps{0};
  /// Somebody else wrote after an upgrade had read, or a downgrade written.
  int between{0};

  Seen& operator+=(const Seen& other) {
    reads += other.reads;
    writes += other.writes;
    upgrades += other.upgrades;
    downgrades += other.downgrades;
    readers_again += other.readers_again;
    told_of_loss += other.told_of_loss;
    overlaps += other.overlaps;
    between += other.between;
    return *this;
  }
};

template <class Locks>
class Catalog {
 public:
  Catalog(std::uint64_t seed, const Protocol& protocol)
      : world_{seed, protocol, std::max<Millis>(2s, protocol.ttl_min)}, chance_{~seed} {
    for (std::size_t i = 0; i < kClients; ++i) world().add_client("client" + std::to_string(i));
    for (std::size_t i = 0; i < kClients; ++i) {
      world().client({i}).env().spawn(work({i}, Chance{chance_.draw()}));
    }
  }

  const Seen& seen() const { return seen_; }

  /// Somebody dies of it.
  void trouble() { dead_ = world_.trouble(chance_); }

  /// Whether everybody who lives does so many rounds from now on.
  bool goes_on() {
    rounds_.fill(0);
    if (dead_) rounds_[dead_->index] = kRounds;
    const auto done = [](int rounds) { return rounds >= kRounds; };
    return world().scheduler().run_until([&] { return std::ranges::all_of(rounds_, done); },
                                         200 * world_.ttl());
  }

 private:
  using Taking = recipes::ReadWriteTaking<Locks>;
  using Writer = typename Taking::Writer;

  /// One client, at work.
  struct Worker {
    ClientId client;
    Chance& chance;
    SimEnv& env;
    Locks& locks;
    Taking& taking;
  };

  World& world() { return world_.world(); }

  Task<void> work(ClientId client, Chance chance) {
    SimEnv& env = world().client(client).env();
    Locks locks{world_, client};
    Taking taking{locks, kName, {.ttl = world_.ttl()}};
    Worker worker{client, chance, env, locks, taking};
    for (;;) {
      co_await env.sleep_for(chance.between(Duration{0}, kWhile));
      auto round = chance.happens({300}) ? write(worker) : read(worker);
      // Otherwise it was the engine's trouble. Ask again.
      const bool held = co_await std::move(round);
      rounds_[client.index] += held ? 1 : 0;
    }
  }

  Task<bool> read(Worker& worker) {
    const std::stop_token never;
    auto reader = co_await worker.taking.read(kForever, never);
    if (!reader) co_return false;
    if (worker.locks.stands(*reader)) {
      ++seen_.reads;
      co_await read_on(worker, *reader);
    }
    leave(worker);
    co_await worker.locks.release(*reader);
    co_return true;
  }

  /// As long as it is a reader, and perhaps as a writer then.
  Task<void> read_on(Worker& worker, SimLocks::Lease& reader) {
    enter(worker, Mode::shared, reader);
    const int read = version_;
    co_await worker.env.sleep_for(worker.chance.between(Duration{0}, kWhile));
    if (worker.chance.happens({400})) co_return;
    constexpr std::array<Millis, 3> kWaits{0ms, 300ms, kForever};
    const Millis wait = kWaits[worker.chance.below(kWaits.size())];
    const std::stop_token never;
    auto writer = co_await worker.taking.upgrade(reader, wait, never);
    if (!writer && worker.locks.stands(reader)) {
      ++seen_.readers_again;
      enter(worker, Mode::shared, reader);
      seen_.between += version_ == read ? 0 : 1;
    }
    if (!writer) {
      seen_.told_of_loss += writer.error().code == Errc::lost ? 1 : 0;
      co_return;
    }
    if (worker.locks.stands(writer->lease)) {
      ++seen_.upgrades;
      seen_.between += version_ == read ? 0 : 1;
    }
    co_await write_on(worker, *std::move(writer));
  }

  Task<bool> write(Worker& worker) {
    const std::stop_token never;
    auto writer = co_await worker.taking.write(kForever, never);
    if (!writer) co_return false;
    co_await write_on(worker, *std::move(writer));
    co_return true;
  }

  /// As long as it is a writer, and perhaps as a reader then. Leaves in the end.
  Task<void> write_on(Worker& worker, Writer writer) {
    enter(worker, Mode::exclusive, writer.lease);
    co_await worker.env.sleep_for(worker.chance.between(Duration{0}, kWhile));
    const bool stands = worker.locks.stands(writer.lease);
    if (stands) {
      ++seen_.writes;
      ++version_;
    }
    if (stands && worker.chance.happens({500})) {
      co_await downgrade(worker, std::move(writer));
      co_return;
    }
    leave(worker);
    co_await worker.locks.release(writer.lease);
    co_await worker.locks.release(writer.intent);
  }

  Task<void> downgrade(Worker& worker, Writer writer) {
    const int written = version_;
    const std::stop_token never;
    auto reader = co_await worker.taking.downgrade(std::move(writer), kForever, never);
    if (!reader) {
      seen_.told_of_loss += reader.error().code == Errc::lost ? 1 : 0;
      co_return;
    }
    if (worker.locks.stands(*reader)) {
      ++seen_.downgrades;
      enter(worker, Mode::shared, *reader);
      seen_.between += version_ == written ? 0 : 1;
      co_await worker.env.sleep_for(worker.chance.between(Duration{0}, kWhile));
    }
    leave(worker);
    co_await worker.locks.release(*reader);
  }

  void enter(const Worker& worker, Mode mode, const SimLocks::Lease& lease) {
    leave(worker);
    for (const auto& other : inside_) {
      const bool apart = mode == Mode::shared && other && other->mode == Mode::shared;
      if (other && !apart && worker.locks.stands(lease) && worker.locks.stands(other->lease)) {
        ++seen_.overlaps;
      }
    }
    inside_[worker.client.index] = Inside{mode, lease};
  }
  void leave(const Worker& worker) { inside_[worker.client.index].reset(); }

  /// Who reads or writes, as far as its lease stands.
  struct Inside {
    Mode mode;
    SimLocks::Lease lease;
  };

  RecipeWorld world_;
  Chance chance_;
  /// Of what the lock guards.
  int version_{0};
  Seen seen_;
  std::optional<ClientId> dead_;
  std::array<int, kClients> rounds_{};
  std::array<std::optional<Inside>, kClients> inside_;
};

std::uint64_t seeds() {
  const char* asked = std::getenv("HOLDFAST_SEEDS");
  return asked == nullptr ? 150 : std::strtoull(asked, nullptr, 10);
}

/// Redlock has no shared locks.
class ReadWriteScenario : public testing::TestWithParam<const char*> {
 protected:
  const Protocol& protocol_ = *find_protocol(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Protocol,
                         ReadWriteScenario,
                         testing::Values("redis", "etcd", "zookeeper", "postgres"),
                         [](const auto& param) { return std::string{param.param}; });

void expect_all_kinds(const Seen& seen) {
  EXPECT_GT(seen.reads, 0);
  EXPECT_GT(seen.writes, 0);
  EXPECT_GT(seen.upgrades, 0);
  EXPECT_GT(seen.downgrades, 0);
  EXPECT_GT(seen.readers_again, 0);
}

TEST_P(ReadWriteScenario, NobodyWritesBetweenAReadAndItsUpgrade) {
  Seen all;
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    Catalog<SimLocks> catalog{seed, protocol_};
    ASSERT_TRUE(catalog.goes_on()) << "seed " << seed;
    ASSERT_EQ(catalog.seen().overlaps, 0) << "seed " << seed;
    ASSERT_EQ(catalog.seen().between, 0) << "seed " << seed;
    all += catalog.seen();
  }
  expect_all_kinds(all);
}

TEST_P(ReadWriteScenario, NobodyDoesWhateverIsLostPausedOrKilled) {
  Seen all;
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    Catalog<SimLocks> catalog{seed, protocol_};
    catalog.trouble();
    ASSERT_TRUE(catalog.goes_on()) << "seed " << seed;
    ASSERT_EQ(catalog.seen().overlaps, 0) << "seed " << seed;
    ASSERT_EQ(catalog.seen().between, 0) << "seed " << seed;
    all += catalog.seen();
  }
  expect_all_kinds(all);
  EXPECT_GT(all.told_of_loss, 0);
}

// What the intent is for. Nobody is beside a writer here either: the name itself sees to that.
TEST_P(ReadWriteScenario, WithoutTheIntentSomebodyDoes) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Catalog<OwnIntents> catalog{seed, protocol_};
    ASSERT_TRUE(catalog.goes_on()) << "seed " << seed;
    ASSERT_EQ(catalog.seen().overlaps, 0) << "seed " << seed;
    if (catalog.seen().between > 0) return;
  }
  ADD_FAILURE() << "nobody came between";
}

}  // namespace
}  // namespace holdfast::sim
