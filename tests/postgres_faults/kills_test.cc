// Servers that are killed, and replicas that take over, while others work.

#include <gtest/gtest.h>

#include <utility>

#include "tests/campaigns/leader_kills.h"
#include "tests/postgres/postgres_server.h"

namespace holdfast::postgres {
namespace {

class KillsTest : public testing::TestWithParam<std::string> {
 protected:
  static std::string parameters() { return "?mode=" + GetParam(); }
};
std::string mode_name(const testing::TestParamInfo<std::string>& mode) { return mode.param; }

INSTANTIATE_TEST_SUITE_P(Mode, KillsTest, testing::Values("lease", "advisory"), mode_name);

PostgresSettings many_connections() {
  PostgresSettings settings;
  settings.lines = {"max_connections=400"};
  return settings;
}

TEST_P(KillsTest, NothingIsLostWhenTheServerIsKilledUnderLoad) {
  PostgresServer server{many_connections()};
  campaigns::run_leader_kills({.url = server.url() + parameters(),
                               .kill_leader =
                                   [&] {
                                     server.kill();
                                     server.start();
                                   },
                               .restart = [] {}});
}

/// A primary, and a replica without which nothing is confirmed.
struct Pair {
  Pair() {
    primary.psql("ALTER SYSTEM SET synchronous_standby_names = '*'");
    primary.psql("SELECT pg_reload_conf()");
  }

  std::string url() const {
    return "postgres://postgres@" + primary.endpoint() + ',' + replica.endpoint() + "/postgres";
  }

  PostgresServer primary{many_connections()};
  PostgresServer replica = PostgresServer::replica_of(primary, many_connections());
};

TEST_P(KillsTest, NothingIsLostWhenASynchronousReplicaTakesOver) {
  Pair servers;
  bool taken_over = false;
  const auto take_over = [&] {
    if (std::exchange(taken_over, true)) return servers.replica.restart();
    servers.primary.kill();
    servers.replica.psql("ALTER SYSTEM SET synchronous_standby_names = ''");
    servers.replica.promote();
  };
  campaigns::run_leader_kills(
      {.url = servers.url() + parameters(), .kill_leader = take_over, .restart = [] {}});
}

}  // namespace
}  // namespace holdfast::postgres

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
