// A backup is restored under running processes, with etcd's own tools.

#include <gtest/gtest.h>

#include <filesystem>

#include "holdfast/client.h"
#include "holdfast/store.h"
#include "tests/campaigns/let_pass.h"
#include "tests/etcd/etcd_cluster.h"
#include "tests/servers/refusal.h"

namespace holdfast::etcd {
namespace {

using namespace std::chrono_literals;

using campaigns::let_pass;
using servers::connected;

/// Far longer than anything here takes; a test that needs it fails.
constexpr auto kPatience = 60s;

class EtcdRestoreTest : public testing::Test {
 protected:
  std::string url() const { return "etcd://" + cluster_.endpoints(); }

  void back_up() { cluster_.must({"snapshot", "save", backup()}); }

  /// As an operator does: the same member, with the data of the backup.
  void restore() {
    EtcdProcess& node = cluster_.node(0);
    node.stop();
    std::filesystem::remove_all(data());
    const std::string peers = "http://127.0.0.1:" + std::to_string(node.ports().peers);
    cluster_.must({"snapshot",
                   "restore",
                   backup(),
                   "--name=n0",
                   "--data-dir=" + data(),
                   "--initial-cluster=n0=" + peers,
                   "--initial-advertise-peer-urls=" + peers});
    node.restart();
  }

  static bool is_lost(const Lease& lease) {
    const TimePoint limit = BootClock::now() + kPatience;
    while (lease.state() != LeaseState::lost && BootClock::now() < limit) let_pass(10ms);
    return lease.state() == LeaseState::lost;
  }

  EtcdCluster cluster_;

 private:
  std::string backup() const { return cluster_.node(0).directory() / "backup.db"; }
  std::string data() const { return cluster_.node(0).directory() / "data"; }
};

// The renewal of neither is due for a long time.
TEST_F(EtcdRestoreTest, RunningHoldersAreToldAndMarksRefuseTheTokensThatComeAgain) {
  Client client = connected(url());
  const auto saved = client.acquire("saved", {.ttl = 10min});
  ASSERT_TRUE(saved);
  back_up();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(client.store()->put("k", std::to_string(i)));
  const auto late = client.acquire("late", {.ttl = 10min});
  ASSERT_TRUE(late);
  Client elsewhere = connected("local:" + (cluster_.node(0).directory() / "elsewhere").string());
  ASSERT_TRUE(elsewhere.store()->open("ledger", *late)->write("1"));
  auto in_the_cluster = client.store()->open("ledger", *late);
  ASSERT_TRUE(in_the_cluster);

  restore();

  for (const Lease* const lease : {&*saved, &*late}) {
    ASSERT_TRUE(is_lost(*lease)) << lease->name();
    EXPECT_EQ(lease->loss_reason(), LossReason::rolled_back) << lease->name();
  }
  EXPECT_EQ(in_the_cluster->write("2").error().code, Errc::stale_token);
  Client after = connected(url());
  const auto again = after.acquire("late");
  ASSERT_TRUE(again);
  ASSERT_LE(again->token(), late->token());
  EXPECT_EQ(elsewhere.store()->open("ledger", *again).error().code, Errc::stale_token);
}

}  // namespace
}  // namespace holdfast::etcd
