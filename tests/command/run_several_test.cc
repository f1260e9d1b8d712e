// `holdfast run NAME --and NAME`: several locks, all or none.

#include <gtest/gtest.h>

#include <csignal>

#include "tests/command/harness.h"

namespace holdfast::test {
namespace {

class RunSeveralTest : public CommandTest {
 protected:
  bool is_free(const std::string& name) {
    return run({"run", name, "--wait", "0", "--", "true"}).code == 0;
  }

  /// Runs under a and b until the file `go` is there.
  Running start_holder(Words options = {}) {
    Running holder = start(Words{"run", "b", "--and", "a"} + std::move(options) +
                           shell("echo ready > $D/ready; until [ -e $D/go ]; do sleep 0.01; done"));
    await("ready");
    return holder;
  }
};

TEST_F(RunSeveralTest, TheProgramLearnsTheTokenOfEach) {
  const Finished finished =
      run(Words{"run", "b", "--and", "a", "--and", "b"} +
          shell("echo $HOLDFAST_LOCKS $HOLDFAST_LOCK $HOLDFAST_LOCK_1 $HOLDFAST_LOCK_2; "
                "[ $HOLDFAST_TOKEN = $HOLDFAST_TOKEN_1 ] && [ $HOLDFAST_TOKEN_2 -gt 0 ] && "
                "[ $HOLDFAST_OWNER = $HOLDFAST_OWNER_1 ] && "
                "$H check-sequencer $HOLDFAST_SEQUENCER_1 > $D/1 && "
                "$H check-sequencer $HOLDFAST_SEQUENCER_2 > $D/2"));
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(finished.out, "2 b b a\n");
  EXPECT_TRUE(is_free("a"));
  EXPECT_TRUE(is_free("b"));
}

TEST_F(RunSeveralTest, StatusTellsOfEachGrant) {
  const int fd = open_output("status");
  const Words arguments{"run", "b", "--and", "a", "--status-fd", "3", "--", "true"};
  EXPECT_EQ(run(Launch{.arguments = arguments, .descriptors = {{3, fd}}}).code, 0);
  const Words lines = read_lines("status");
  ASSERT_GE(lines.size(), 2U);
  EXPECT_EQ(parse_object(lines[0]).at("name").as_string(), "b");
  EXPECT_EQ(parse_object(lines[1]).at("name").as_string(), "a");
}

TEST_F(RunSeveralTest, WhoIsRefusedOneHoldsNone) {
  Running holder = start_holder();
  const Finished refused =
      run({"run", "0", "--and", "a", "--and", "z", "--wait", "0", "--", "true"});
  EXPECT_EQ(refused.code, 75);
  EXPECT_NE(refused.err.find("'0', 'a', 'z' are not all free"), std::string::npos) << refused.err;
  EXPECT_TRUE(is_free("0"));
  EXPECT_TRUE(is_free("z"));
  write("go", "");
  EXPECT_EQ(holder.wait().code, 0);
}

TEST_F(RunSeveralTest, OppositeOrdersAllGetTheirTurn) {
  const Words job = shell("echo >> $D/done");
  std::vector<Running> crowd;
  for (int i = 0; i < 3; ++i) {
    crowd.push_back(start(Words{"run", "a", "--and", "b", "--and", "c"} + job));
    crowd.push_back(start(Words{"run", "c", "--and", "b", "--and", "a"} + job));
  }
  for (Running& one : crowd) EXPECT_EQ(one.wait().code, 0);
  EXPECT_EQ(read_lines("done").size(), 6U);
}

// The leases are detached, and the guardian gives each of them up.
TEST_F(RunSeveralTest, ASupervisorThatIsKilledLeavesNoneBehind) {
  Running holder = start_holder({"--ttl", "1h"});
  holder.signal(SIGKILL);
  EXPECT_TRUE(holder.wait().signalled);
  EXPECT_EQ(run({"run", "a", "--and", "b", "--wait", "20s", "--", "true"}).code, 0);
}

TEST_F(RunSeveralTest, TheLossOfOneEndsTheProgram) {
  Running holder = start_holder({"--ttl", "6s"});
  EXPECT_EQ(run({"break", "a", "--why", "test"}).code, 0);
  EXPECT_EQ(holder.wait().code, 76);
  EXPECT_TRUE(is_free("a"));
  EXPECT_TRUE(is_free("b"));
}

TEST_F(RunSeveralTest, WrongNamesAreNamed) {
  EXPECT_EQ(run({"run", "a", "--and", "", "--", "true"}).code, 65);
  Words many{"run", "a"};
  for (int i = 0; i < 32; ++i) many = many + Words{"--and", "name" + std::to_string(i)};
  const Finished refused = run(many + Words{"--", "true"});
  EXPECT_EQ(refused.code, 65);
  EXPECT_NE(refused.err.find("33 locks"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace holdfast::test
