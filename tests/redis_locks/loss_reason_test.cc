// A lease that the server does not have any more is lost, and its holder learns why.

#include "tests/redis_locks/locks_bed.h"

namespace holdfast::redis_locks {
namespace {

class LossReasonTest : public LocksBed {
 protected:
  /// A lease that is renewed soon, of a client that has had its first look at the server.
  Lease hold(const AcquireOptions& options) {
    auto lease = client_.acquire("x", options);
    EXPECT_TRUE(lease);
    EXPECT_TRUE(eventually([&] { return sections_asked_for() == 4; }));
    EXPECT_TRUE(client_.inspect("x")) << "on the same connection, behind that answer";
    return *std::move(lease);
  }

 private:
  /// How often somebody else has asked for a section of INFO.
  int sections_asked_for() {
    const std::string field = "cmdstat_info:calls=";
    const std::string info = command({"INFO", "commandstats"}).text;
    const std::size_t at = info.find(field);
    const int calls = at == std::string::npos ? 0 : std::stoi(info.substr(at + field.size()));
    return calls - asked_here_++;
  }

  int asked_here_{0};
};

constexpr AcquireOptions kSoon{.ttl = 3s};
/// Its renewal is due when the test is long over.
constexpr AcquireOptions kLong{.ttl = 10min};

TEST_F(LossReasonTest, ARestartWithoutDataIsNoticedAtOnce) {
  const Lease lease = hold(kLong);
  server_.restart();
  ASSERT_TRUE(eventually([&] { return is_lost(lease); }));
  EXPECT_EQ(lease.loss_reason(), LossReason::restarted);
}

TEST_F(LossReasonTest, AFlush) {
  const Lease lease = hold(kSoon);
  command({"FLUSHALL"});
  ASSERT_TRUE(eventually([&] { return is_lost(lease); }));
  EXPECT_EQ(lease.loss_reason(), LossReason::flushed);
}

TEST_F(LossReasonTest, AnEviction) {
  const Lease lease = hold(kSoon);
  command({"CONFIG", "SET", "maxmemory-policy", "volatile-random"});
  command({"CONFIG", "SET", "maxmemory", "1"});
  ASSERT_TRUE(eventually([&] { return command({"EXISTS", "hf:x"}).integer == 0; }));
  command({"CONFIG", "SET", "maxmemory", "0"});
  ASSERT_TRUE(eventually([&] { return is_lost(lease); }));
  EXPECT_EQ(lease.loss_reason(), LossReason::evicted);
}

TEST_F(LossReasonTest, ADeletionByOthers) {
  const Lease lease = hold(kSoon);
  command({"DEL", "hf:x"});
  ASSERT_TRUE(eventually([&] { return is_lost(lease); }));
  EXPECT_EQ(lease.loss_reason(), LossReason::removed);
}

TEST_F(LossReasonTest, TheLossOfTheMarkerIsThatOfEveryReader) {
  const Lease lease = hold({.mode = Mode::shared, .ttl = 3s});
  command({"DEL", "hf:x"});
  ASSERT_TRUE(eventually([&] { return is_lost(lease); }));
  EXPECT_EQ(lease.loss_reason(), LossReason::removed);
}

// The server becomes the replica of one that knows nothing, and then takes over.
TEST_F(LossReasonTest, AServerThatTookOverWithoutIt) {
  const std::string port = std::to_string(ports::free_port());
  const ports::RedisProcess other{{"--port", port, "--repl-diskless-sync-delay", "0"}};
  const Lease lease = hold({.ttl = 9s});
  command({"REPLICAOF", "127.0.0.1", port});
  ASSERT_TRUE(eventually([&] {
    const std::string info = command({"INFO", "replication"}).text;
    return info.find("master_link_status:up") != std::string::npos;
  }));
  command({"REPLICAOF", "NO", "ONE"});
  ASSERT_TRUE(eventually([&] { return is_lost(lease); }));
  EXPECT_EQ(lease.loss_reason(), LossReason::failed_over);
}

TEST_F(LossReasonTest, WhoMayNotAskTheServerIsToldThatItIsGone) {
  command({"ACL", "SETUSER", "app", "on", "nopass", "~*", "&*", "+@all", "-info"});
  const auto lease = connect("app:any").acquire("x", kSoon);
  ASSERT_TRUE(lease);
  command({"DEL", "hf:x"});
  ASSERT_TRUE(eventually([&] { return is_lost(*lease); }));
  EXPECT_EQ(lease->loss_reason(), LossReason::gone);
}

TEST_F(LossReasonTest, ARestartThatKeptItsDataEndsNoLease) {
  ports::RedisProcess durable{{"--appendonly", "yes", "--appendfsync", "always"}};
  Client client = *Client::connect("redis+unix://" + durable.socket());
  const auto lease = client.acquire("x", {.ttl = 30s});
  ASSERT_TRUE(lease);
  durable.restart();
  ASSERT_TRUE(eventually([&] { return client.inspect("x").has_value(); }));
  EXPECT_TRUE(client.inspect("x")->holders.size() == 1);
  EXPECT_TRUE(lease->ensure_held());
}

}  // namespace
}  // namespace holdfast::redis_locks
