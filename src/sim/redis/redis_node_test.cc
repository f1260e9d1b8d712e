#include "sim/redis/redis_node.h"

#include <gtest/gtest.h>

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;
using redis::Reply;

constexpr redis::Script kPut{"put", "return redis.call('SET', KEYS[1], ARGV[1])"};

class RedisNodeTest : public testing::Test {
 protected:
  static void put(RedisNode& node, const std::string& key, const std::string& value) {
    EXPECT_EQ(node.eval({.script = &kPut, .keys = {key}, .args = {value}}), Reply::of_text("OK"));
  }

  static void restart(RedisNode& node) {
    node.stop();
    EXPECT_FALSE(node.up());
    node.start();
    EXPECT_TRUE(node.up());
  }

  Scheduler scheduler_;
};

TEST_F(RedisNodeTest, KeepsAllWhenEveryWriteIsSynced) {
  RedisNode node{scheduler_, SimClock{}, Persistence::always};
  put(node, "k", "v");
  restart(node);
  EXPECT_EQ(node.get("k"), "v");
  EXPECT_EQ(node.era(), 0U);
}

TEST_F(RedisNodeTest, LosesWhatWasNotSynced) {
  RedisNode node{scheduler_, SimClock{}, Persistence::everysec};
  put(node, "k", "v");
  node.sync();
  restart(node);
  EXPECT_EQ(node.era(), 0U);
  put(node, "k", "w");
  put(node, "l", "w");
  restart(node);
  EXPECT_EQ(node.get("k"), "v");
  EXPECT_EQ(node.get("l"), std::nullopt);
  EXPECT_EQ(node.era(), 1U);
}

TEST_F(RedisNodeTest, BringsBackWhatWasDeletedButNotSynced) {
  RedisNode node{scheduler_, SimClock{}, Persistence::everysec};
  put(node, "k", "v");
  node.sync();
  node.command({"DEL", "k"});
  restart(node);
  EXPECT_EQ(node.get("k"), "v");
  EXPECT_EQ(node.era(), 1U);
}

TEST_F(RedisNodeTest, StartsEmptyWithoutPersistence) {
  RedisNode node{scheduler_, SimClock{}, Persistence::none};
  restart(node);
  EXPECT_EQ(node.era(), 0U);
  put(node, "k", "v");
  node.sync();
  restart(node);
  EXPECT_EQ(node.get("k"), std::nullopt);
  EXPECT_EQ(node.era(), 1U);
}

TEST_F(RedisNodeTest, StartsAsTold) {
  RedisNode node{scheduler_, SimClock{}, Persistence::everysec};
  put(node, "k", "v");
  node.stop();
  node.start(Data::kept);
  EXPECT_EQ(node.get("k"), "v");
  node.sync();
  node.stop();
  node.start(Data::lost);
  EXPECT_EQ(node.get("k"), std::nullopt);
  EXPECT_EQ(node.era(), 1U);
  restart(node);
  EXPECT_EQ(node.get("k"), std::nullopt) << "the disk still had it";
}

TEST_F(RedisNodeTest, AReplicaTakesOverWithoutTheTail) {
  RedisNode node{scheduler_, SimClock{}, Persistence::everysec};
  put(node, "k", "v");
  node.replicate();
  node.promote_replica();
  EXPECT_EQ(node.era(), 0U);
  put(node, "k", "w");
  node.sync();
  node.stop();
  node.replicate();
  node.promote_replica();
  EXPECT_TRUE(node.up());
  EXPECT_EQ(node.get("k"), "v");
  EXPECT_EQ(node.era(), 1U);
  restart(node);
  EXPECT_EQ(node.get("k"), "v") << "from the disk of the machine it replaced";
}

TEST_F(RedisNodeTest, AKeyWhoseTimeHasComeIsGoneAfterARestartAndNoLoss) {
  RedisNode node{scheduler_, SimClock{}, Persistence::everysec};
  node.command({"SET", "k", "v", "PX", "1000"});
  node.sync();
  node.command({"SET", "l", "v", "PX", "1000"});
  node.stop();
  scheduler_.advance(1001ms);
  node.start();
  EXPECT_EQ(node.get("k"), std::nullopt);
  EXPECT_EQ(node.era(), 0U);
}

TEST_F(RedisNodeTest, ItsClockHasARateAndSteps) {
  RedisNode node{scheduler_, SimClock{5s}};
  const WallTime begin = node.wall_time();
  node.set_clock_rate({.ppm = 100'000});
  scheduler_.advance(10s);
  EXPECT_EQ(node.wall_time() - begin, 11s);
  EXPECT_EQ(node.era(), 0U);
  node.step_clock(-1h);
  EXPECT_EQ(node.wall_time() - begin, 11s - 1h);
  EXPECT_EQ(node.era(), 1U);
}

TEST_F(RedisNodeTest, ShowsWhatItRan) {
  RedisNode node{scheduler_};
  std::vector<std::string> seen;
  node.observe([&seen](const ScriptRun& run) {
    seen.push_back(std::string{run.call.script->name} + ' ' + run.call.args[0] + ' ' +
                   run.reply.text + ' ' + std::to_string(run.era));
  });
  put(node, "k", "v");
  EXPECT_TRUE(node.executions().empty());
  node.record_executions();
  node.step_clock(1s);
  put(node, "k", "w");
  EXPECT_EQ(seen, (std::vector<std::string>{"put v OK 0", "put w OK 1"}));
  ASSERT_EQ(node.executions().size(), 1U);
  EXPECT_EQ(node.executions()[0].call.args, std::vector<std::string>{"w"});
  EXPECT_EQ(node.executions()[0].at, node.wall_time());
  EXPECT_EQ(node.executions()[0].era, 1U);
}

TEST_F(RedisNodeTest, SubscriptionsEndWithTheServer) {
  RedisNode node{scheduler_};
  std::vector<std::string> heard;
  node.model().channels().subscribe(
      "c", [&heard](std::string_view, std::string_view message) { heard.emplace_back(message); });
  EXPECT_EQ(node.command({"PUBLISH", "c", "one"}), Reply::of_integer(1));
  restart(node);
  EXPECT_EQ(node.command({"PUBLISH", "c", "two"}), Reply::of_integer(0));
  EXPECT_EQ(heard, std::vector<std::string>{"one"});
}

}  // namespace
}  // namespace holdfast::sim
