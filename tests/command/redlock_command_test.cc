// redlock init and rejoin, and the other commands on a set of nodes.

#include <gtest/gtest.h>

#include "tests/command/harness.h"
#include "tests/ports/redis_process.h"

namespace holdfast::test {
namespace {

class RedlockCommandTest : public CommandTest {
 protected:
  std::string url() const {
    return "redlock+unix://" + nodes_[0].socket() + "," + nodes_[1].socket() + "," +
           nodes_[2].socket();
  }
  Words at_nodes(Words arguments) const { return std::move(arguments) + Words{"--engine", url()}; }

  ports::RedisProcess nodes_[3];
};

TEST_F(RedlockCommandTest, InitFoundsTheSetOnce) {
  const Finished before = run(at_nodes({"ls"}));
  EXPECT_EQ(before.code, 69);
  EXPECT_NE(before.err.find("redlock init"), std::string::npos) << before.err;

  const auto set = run_json(at_nodes({"redlock", "init", "--longest-ttl", "1s"}));
  EXPECT_EQ(keys(set), (std::set<std::string>{"set", "nodes", "epoch", "longest_ttl_ms"}));
  EXPECT_EQ(set.at("nodes").as_int64(), 3);
  EXPECT_EQ(set.at("longest_ttl_ms").as_int64(), 1000);

  const Finished again = run(at_nodes({"redlock", "init"}));
  EXPECT_EQ(again.code, 65);
  EXPECT_NE(again.err.find("--anew"), std::string::npos) << again.err;
}

TEST_F(RedlockCommandTest, AllCommandsOfLocksWork) {
  ASSERT_EQ(run(at_nodes({"redlock", "init"})).code, 0);
  const auto lease = run_json(at_nodes({"acquire", "x", "--ttl", "1m", "--label", "me"}));
  const std::string owner{lease.at("owner").as_string()};
  EXPECT_EQ(run(at_nodes({"acquire", "x", "--wait", "0"})).code, 75);
  EXPECT_EQ(run_json(at_nodes({"ls"})).at("locks").as_array().size(), 1U);
  EXPECT_EQ(run_json(at_nodes({"show", "x"})).at("holders").as_array().size(), 1U);
  const std::string sequencer{lease.at("sequencer").as_string()};
  EXPECT_EQ(run(at_nodes({"check-sequencer", sequencer})).code, 0);
  EXPECT_EQ(run(at_nodes({"renew", "x", "--owner", owner, "--ttl", "2m"})).code, 0);
  EXPECT_EQ(run(at_nodes({"release", "x", "--owner", owner})).code, 0);
  EXPECT_EQ(run(at_nodes({"acquire", "x", "--ttl", "1m"})).code, 0);
  EXPECT_EQ(run(at_nodes({"break", "x", "--why", "test"})).code, 0);
  EXPECT_EQ(run(at_nodes({"run", "x"}) + Words{"--", "true"}).code, 0);
  EXPECT_EQ(run(at_nodes({"acquire", "x", "--shared"})).code, 65);
  EXPECT_EQ(run(at_nodes({"get", "key"})).code, 65);
}

TEST_F(RedlockCommandTest, RejoinLetsANodeWithoutItsDataInAgain) {
  ASSERT_EQ(run(at_nodes({"redlock", "init", "--longest-ttl", "200ms"})).code, 0);
  EXPECT_EQ(run(at_nodes({"redlock", "rejoin", nodes_[1].socket()})).code, 65);
  EXPECT_EQ(run(at_nodes({"redlock", "rejoin", "nobody:1"})).code, 65);
  nodes_[1].restart();
  const auto joined = run_json(at_nodes({"redlock", "rejoin", nodes_[1].socket()}));
  EXPECT_EQ(joined.at("node").as_string(), nodes_[1].socket());
  nodes_[0].kill();
  EXPECT_EQ(run(at_nodes({"acquire", "x", "--ttl", "200ms"})).code, 0);
}

}  // namespace
}  // namespace holdfast::test
