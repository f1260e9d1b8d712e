// Backends and servers that end under a lease: who held an advisory lock is told at once and why,
// who held a lease keeps it, and tokens rise.

#include <gtest/gtest.h>

#include "holdfast/client.h"
#include "holdfast/store.h"
#include "tests/contract/patience.h"
#include "tests/postgres/postgres_server.h"
#include "tests/servers/refusal.h"

namespace holdfast::postgres {
namespace {

using namespace std::chrono_literals;

using contract::eventually;
using servers::connected;

/// Far longer than a server takes to come back.
constexpr auto kTtl = 30s;

class PostgresLossTest : public testing::Test {
 protected:
  void hold(const std::string& mode) {
    holder_ = connected(server_.url() + "?mode=" + mode);
    lease_ = holder_->acquire("x", {.ttl = kTtl}).value();
    resource_ = holder_->store()->open("r", *lease_).value();
    ASSERT_TRUE(resource_->write("held"));
  }

  /// The holder of an advisory lock is told, and another one holds it with a higher token.
  void expect_lost(LossReason reason) {
    ASSERT_TRUE(eventually([&] { return lease_->stop_token().stop_requested(); }));
    EXPECT_FALSE(lease_->ensure_held());
    EXPECT_EQ(lease_->loss_reason(), reason) << to_string(lease_->loss_reason());
    EXPECT_EQ(lease_->release(), ReleaseOutcome::already_lost);
    Client other = connected(server_.url() + "?mode=advisory");
    auto next = other.acquire("x", {.wait = 30s});
    ASSERT_TRUE(next) << next.error().message;
    EXPECT_GT(next->token(), lease_->token());
    auto resource = other.store()->open("r", *next);
    ASSERT_TRUE(resource) << resource.error().message;
    const auto late = resource_->write("late");
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, Errc::stale_token) << late.error().message;
    EXPECT_TRUE(resource->write("next"));
    // The same client takes locks again.
    EXPECT_TRUE(holder_->acquire("y", {.wait = 30s}));
  }

  void expect_kept() {
    ASSERT_TRUE(eventually([&] { return lease_->renew().has_value(); }));
    EXPECT_TRUE(lease_->ensure_held());
    EXPECT_TRUE(eventually([&] { return resource_->write("still held").has_value(); }));
    Client other = connected(server_.url());
    EXPECT_EQ(other.try_acquire("x").error().code, Errc::busy);
    const Token first = lease_->token();
    EXPECT_EQ(lease_->release(), ReleaseOutcome::released);
    auto next = other.acquire("x", {.wait = 30s});
    ASSERT_TRUE(next);
    EXPECT_GT(next->token(), first);
  }

  void end_backends() {
    server_.psql(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
        "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()");
  }

  PostgresServer server_;
  std::optional<Client> holder_;
  std::optional<Lease> lease_;
  std::optional<Resource> resource_;
};

TEST_F(PostgresLossTest, AdvisoryLockOfABackendThatIsEndedIsLost) {
  hold("advisory");
  end_backends();
  expect_lost(LossReason::revoked);
}

TEST_F(PostgresLossTest, AdvisoryLockIsLostWhenTheServerRestarts) {
  hold("advisory");
  server_.restart();
  ASSERT_TRUE(eventually([&] { return lease_->stop_token().stop_requested(); }));
  const LossReason reason = lease_->loss_reason();
  EXPECT_TRUE(reason == LossReason::restarted || reason == LossReason::gone) << to_string(reason);
  expect_lost(reason);
}

TEST_F(PostgresLossTest, AdvisoryLockIsLostWhenTheServerIsKilled) {
  hold("advisory");
  server_.kill();
  ASSERT_TRUE(eventually([&] { return lease_->stop_token().stop_requested(); }));
  server_.start();
  expect_lost(lease_->loss_reason());
}

TEST_F(PostgresLossTest, LeaseOutlivesBackendsThatAreEnded) {
  hold("lease");
  end_backends();
  expect_kept();
}

TEST_F(PostgresLossTest, LeaseOutlivesARestart) {
  hold("lease");
  server_.restart();
  expect_kept();
}

TEST_F(PostgresLossTest, LeaseOutlivesTheDeathOfTheServer) {
  hold("lease");
  server_.kill();
  server_.start();
  expect_kept();
}

/// It hears no more of what its primary does.
void cut_off(const PostgresServer& replica) {
  replica.psql("ALTER SYSTEM SET primary_conninfo = ''");
  replica.psql("SELECT pg_reload_conf()");
  ASSERT_TRUE(
      eventually([&] { return replica.psql("SELECT count(*) FROM pg_stat_wal_receiver") == "0"; }));
}

/// The number that the sequence of tokens has come to.
std::uint64_t last_number(const PostgresServer& server) {
  return std::stoull(server.psql("SELECT last_value FROM holdfast.token"));
}

// The sequence goes back with what the replica missed; the timeline does not.
TEST_F(PostgresLossTest, TokensRiseAcrossAPromotionOfAReplicaThatWasBehind) {
  for (const char* mode : {"lease", "advisory"}) {
    PostgresServer primary;
    Client client = connected(primary.url() + "?mode=" + mode);
    ASSERT_TRUE(client.acquire("x"));
    PostgresServer replica = PostgresServer::replica_of(primary);
    ASSERT_NO_FATAL_FAILURE(cut_off(replica));
    Token last{0};
    for (int i = 0; i < 200; ++i) last = client.acquire("x").value().token();
    const std::uint64_t drawn = last_number(primary);
    primary.kill();
    replica.promote();
    ASSERT_LT(last_number(replica), drawn);
    auto next = connected(replica.url() + "?mode=" + mode).acquire("x", {.wait = 60s});
    ASSERT_TRUE(next) << next.error().message;
    EXPECT_GT(next->token(), last);
  }
}

}  // namespace
}  // namespace holdfast::postgres
