// Many clients take turns at a counter while the server of their lock fails over.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>

#include "tests/redis_ha/cluster_bed.h"
#include "tests/redis_ha/sentinel_bed.h"

namespace holdfast::ha {
namespace {

using namespace std::chrono_literals;

constexpr int kClients = 4;
constexpr int kBefore = 40;
constexpr int kAfter = 40;

/// What the clients saw, in all.
struct Tally {
  std::atomic<int> counted{0};
  std::atomic<int> refused{0};
  std::mutex mutex;
  std::map<LossReason, int> lost;
  std::vector<std::string> unexpected;

  void note(const Lease& lease) {
    if (lease.state() != LeaseState::lost) return;
    const std::lock_guard lock{mutex};
    ++lost[lease.loss_reason()];
  }
  void note(const Error& error) {
    if (error.code == Errc::stale_token) {
      ++refused;
      return;
    }
    const std::lock_guard lock{mutex};
    unexpected.push_back(error.message);
  }
};

class FencedFailoverTest : public testing::Test {
 protected:
  FencedFailoverTest() {
    std::string name = std::filesystem::temp_directory_path() / "holdfast-fenced-XXXXXX";
    directory_ = mkdtemp(name.data());
  }
  ~FencedFailoverTest() override { std::filesystem::remove_all(directory_); }

  Store resource() const { return Store::connect("local:" + directory_ + "?sync=off").value(); }

  /// Reads, thinks, and writes one more, under a lock.
  static void count_once(Client& client, Store& store, Tally& tally) {
    auto lease = client.acquire("counter", {.ttl = 2s, .wait = 30s});
    if (!lease) return;
    auto counter = store.open("counter", *lease);
    if (!counter) return tally.note(counter.error());
    const auto read = counter->read();
    if (!read) return tally.note(read.error());
    const int value = *read ? std::stoi((*read)->value) : 0;
    std::this_thread::yield();
    const auto written = counter->write(std::to_string(value + 1));
    if (written) {
      ++tally.counted;
    } else {
      tally.note(written.error());
    }
    tally.note(*lease);
  }

  /// A lease of the old master's that the new one does not know, and what its holder writes to.
  struct Forgotten {
    Lease lease;
    Resource resource;
  };

  /// Somebody else is granted the lock, and writes. The first holder's next write is stale.
  static void overtake(Forgotten& forgotten, Client& client, Store& store) {
    auto lease = client.acquire(forgotten.lease.name(), {.ttl = 20s, .wait = 30s});
    ASSERT_TRUE(lease) << lease.error().message;
    auto resource = store.open(forgotten.lease.name(), *lease);
    ASSERT_TRUE(resource) << resource.error().message;
    ASSERT_TRUE(resource->write("newer"));
    const auto late = forgotten.resource.write("late");
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, Errc::stale_token) << late.error().message;
    EXPECT_EQ(resource->read().value().value().value, "newer");
  }

  SentinelBed bed_;
  std::string directory_;
};

// The lock may be held by two for a while, and the resource lets only the later one in: no count is
// lost. What the failover cost is told.
TEST_F(FencedFailoverTest, NoStaleWriteIsAccepted) {
  Tally tally;
  std::atomic<bool> stop{false};
  std::vector<std::jthread> threads;
  for (int i = 0; i < kClients; ++i) {
    threads.emplace_back([&] {
      Client client = Client::connect(bed_.url("?timeout=20s")).value();
      Store store = resource();
      while (!stop) count_once(client, store, tally);
    });
  }
  Client keeper = Client::connect(bed_.url("?timeout=20s")).value();
  Store store = resource();
  std::vector<Forgotten> kept;
  ASSERT_TRUE(eventually([&] { return tally.counted >= kBefore; }));
  // Granted by the old master alone.
  bed_.server(1).pause();
  bed_.command(0, {"CLIENT", "KILL", "TYPE", "replica"});
  for (int i = 0; i < 5; ++i) {
    auto lease = keeper.try_acquire("kept" + std::to_string(i), {.ttl = 20s});
    ASSERT_TRUE(lease) << lease.error().message;
    auto opened = store.open(lease->name(), *lease);
    ASSERT_TRUE(opened) << opened.error().message;
    ASSERT_TRUE(opened->write("older"));
    kept.push_back({*std::move(lease), *std::move(opened)});
  }
  bed_.server(0).kill();
  bed_.server(1).resume();
  const int at_failover = tally.counted;
  EXPECT_TRUE(eventually([&] { return tally.counted >= at_failover + kAfter; }));
  stop = true;
  threads.clear();

  EXPECT_TRUE(eventually([&] {
    return std::ranges::all_of(
        kept, [](const Forgotten& one) { return one.lease.state() == LeaseState::lost; });
  })) << "the new master does not know them";
  for (Forgotten& one : kept) {
    EXPECT_EQ(one.lease.loss_reason(), LossReason::failed_over);
    overtake(one, keeper, store);
    ++tally.refused;
  }
  const auto final = resource().get("counter");
  EXPECT_EQ(final.value().value().value, std::to_string(tally.counted))
      << "an acknowledged count was overwritten by a stale one";
  EXPECT_EQ(tally.unexpected, std::vector<std::string>{});
  std::printf("counted %d, refused as stale %d, leases lost to the failover %d\n",
              tally.counted.load(),
              tally.refused.load(),
              tally.lost[LossReason::failed_over] + static_cast<int>(kept.size()));
}

}  // namespace
}  // namespace holdfast::ha
