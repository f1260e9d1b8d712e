// Commands that a fence refused are counted at the engine, where `top` finds them.

#include <gtest/gtest.h>

#include "tests/command/harness.h"
#include "tests/ports/redis_process.h"

namespace holdfast::test {
namespace {

class StaleRefusalsTest : public CommandTest {
 protected:
  /// How often each resource refused.
  std::map<std::string, int> refused(const std::string& engine) {
    const auto look = run_json({"top", "--once", "--engine", engine});
    std::map<std::string, int> counts;
    for (const auto& one : look.at("stale_refusals").as_object().at("resources").as_array()) {
      counts[std::string{one.at("key").as_string()}] = one.at("count").to_number<int>();
    }
    return counts;
  }
  std::map<std::string, int> refused() { return refused(engine()); }
};

using Counts = std::map<std::string, int>;

TEST_F(StaleRefusalsTest, EveryCommandOfTheStoreThatIsRefusedAsStaleIsCounted) {
  ASSERT_EQ(run({"open", "r", "--token", "9"}).code, 0);
  EXPECT_EQ(refused(), Counts{});
  const std::vector<Words> commands{
      {"open", "r"}, {"check", "r"}, {"get", "r"}, {"put", "r", "late"}, {"erase", "r"}};
  for (const Words& command : commands) {
    EXPECT_EQ(run(command + Words{"--token", "8"}).code, 78) << command.front();
  }
  EXPECT_EQ(refused(), (Counts{{"r", 5}}));
}

TEST_F(StaleRefusalsTest, OtherRefusalsAreNotCounted) {
  ASSERT_EQ(run({"put", "r", "1", "--token", "9"}).code, 0);
  EXPECT_EQ(run({"put", "r", "2", "--token", "10", "--lock", "another"}).code, 78);
  EXPECT_EQ(run({"put", "r", "2"}).code, 78);
  EXPECT_EQ(run({"put", "k", "2", "--if-version", "7"}).code, 79);
  EXPECT_EQ(refused(), Counts{});
}

TEST_F(StaleRefusalsTest, FencedFileIsCountedByItsWholePath) {
  const auto on_file = [&](const std::string& value, const std::string& token) {
    return shell("cd $D && $H put --file ledger --lock l " + value + " --token " + token);
  };
  ASSERT_EQ(run(Words{"run", "l"} + on_file("new", "9")).code, 0);
  EXPECT_EQ(run(Words{"run", "l"} + on_file("late", "8")).code, 78);
  EXPECT_EQ(refused(), (Counts{{path("ledger"), 1}}));
}

TEST_F(StaleRefusalsTest, RunnerOfOnceThatWasOvertakenIsCounted) {
  const auto old = run_json({"acquire", "once:k", "--ttl", "100ms"});
  EXPECT_EQ(run({"once", "k", "--", "echo", "theirs"}).out, "theirs\n");
  const Finished late = run(Launch{
      .arguments = {"once-runner",
                    "--key",
                    "k",
                    "--keep",
                    "1h",
                    "--on-failure",
                    "store",
                    "--",
                    "echo",
                    "late"},
      .environment = {{"HOLDFAST_SEQUENCER", std::string{old.at("sequencer").as_string()}}}});
  EXPECT_EQ(late.out, "theirs\n") << late.err;
  EXPECT_EQ(refused(), (Counts{{"once:k", 1}}));
}

TEST_F(StaleRefusalsTest, CountThatCannotBeKeptChangesNothing) {
  ASSERT_EQ(run({"open", "r", "--token", "9"}).code, 0);
  const Words late{"put", "r", "late", "--token", "8"};
  const Finished before = run(late);
  ASSERT_EQ(run({"put", "holdfast/refusals", "mine"}).code, 0);
  const Finished after = run(late);
  EXPECT_EQ(after.code, 78);
  EXPECT_EQ(after.out, before.out);
  EXPECT_EQ(after.err, before.err);
  EXPECT_EQ(run({"get", "holdfast/refusals"}).out, "mine");
}

TEST_F(StaleRefusalsTest, FencedFileIsRefusedAlsoWhereTheEngineIsAway) {
  const std::string away = "redis://127.0.0.1:1/0?timeout=100ms";
  const auto old = run_json({"acquire", "l", "--ttl", "100ms"});
  const auto next = run_json({"acquire", "l"});
  const auto put = [&](const boost::json::object& lease) {
    return run(Launch{
        .arguments = {"put", "--file", path("ledger"), "value", "--engine", away},
        .environment = {{"HOLDFAST_SEQUENCER", std::string{lease.at("sequencer").as_string()}}}});
  };
  ASSERT_EQ(put(next).code, 0);
  EXPECT_EQ(put(old).code, 78);
}

TEST_F(StaleRefusalsTest, CommandsOnOtherHostsAddUpAtAServer) {
  const ports::RedisProcess server;
  const std::string url = "redis+unix://" + server.socket();
  ASSERT_EQ(run({"open", "r", "--token", "9", "--engine", url}).code, 0);
  std::vector<Running> late;
  for (int i = 0; i < 3; ++i) {
    late.push_back(start({"put", "r", "late", "--token", "8", "--engine", url}));
  }
  for (Running& one : late) EXPECT_EQ(one.wait().code, 78);
  EXPECT_EQ(refused(url), (Counts{{"r", 3}}));
  EXPECT_EQ(refused(), Counts{}) << "another engine";
}

TEST_F(StaleRefusalsTest, NothingIsKnownWhereTheEngineHasNoStore) {
  const ports::RedisProcess nodes[3];
  const std::string url =
      "redlock+unix://" + nodes[0].socket() + "," + nodes[1].socket() + "," + nodes[2].socket();
  ASSERT_EQ(run({"redlock", "init", "--engine", url}).code, 0);
  EXPECT_TRUE(run_json({"top", "--once", "--engine", url}).at("stale_refusals").is_null());
  EXPECT_NE(run({"top", "--once", "--engine", url}).out.find("stale writes and reads: -\n"),
            std::string::npos);
}

}  // namespace
}  // namespace holdfast::test
