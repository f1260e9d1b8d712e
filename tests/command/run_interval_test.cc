// `holdfast run NAME --at-most-every TIME`: once per interval, wherever it is started.

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <limits>
#include <sstream>

#include "tests/command/harness.h"

namespace holdfast::test {
namespace {

class RunIntervalTest : public CommandTest {
 protected:
  /// When intervals began, in milliseconds, as somebody saw who watched the lock: a program begins
  /// later than its interval, by as much as the machine is busy.
  static std::vector<std::int64_t> begins(const std::string& watched) {
    std::vector<std::int64_t> times;
    std::istringstream lines{watched};
    for (std::string line; std::getline(lines, line);) {
      const boost::json::object event = parse_object(line);
      if (event.at("event").as_string() != "granted") continue;
      if (event.at("name").as_string() != "job~interval") continue;
      times.push_back(event.at("since_ms").as_int64());
    }
    return times;
  }

  static std::int64_t shortest_gap(const std::vector<std::int64_t>& times) {
    std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = 1; i < times.size(); ++i) {
      shortest = std::min(shortest, times[i] - times[i - 1]);
    }
    return shortest;
  }

  static Words hourly(Words options = {}) {
    return Words{"run", "job", "--at-most-every", "1h"} + std::move(options);
  }
};

TEST_F(RunIntervalTest, InsideTheIntervalItIsNotDueAndSaysWhen) {
  EXPECT_EQ(run(hourly({"--", "true"})).code, 0);
  const Finished early = run(hourly({"--", "true"}));
  EXPECT_EQ(early.code, 75);
  EXPECT_NE(early.err.find("'job' was run by "), std::string::npos) << early.err;
  EXPECT_NE(early.err.find(", and is due in 59m"), std::string::npos) << early.err;
  const auto error = run_json(hourly({"--", "true"}), 75).at("error").as_object();
  EXPECT_EQ(error.at("code").as_string(), "busy");
  EXPECT_EQ(run({"run", "job", "--wait", "0", "--", "true"}).code, 0) << "the job's lock is free";
}

TEST_F(RunIntervalTest, WhoAsksForAnotherIntervalIsToldOfTheOneThatRuns) {
  EXPECT_EQ(run(hourly({"--", "true"})).code, 0);
  const Finished early = run({"run", "job", "--at-most-every", "3s", "--", "true"});
  EXPECT_EQ(early.code, 75);
  EXPECT_NE(early.err.find("is due in 59m"), std::string::npos) << early.err;
  EXPECT_EQ(early.err.find("3s"), std::string::npos) << early.err;
}

TEST_F(RunIntervalTest, WhoWaitsWaitsForAHeldLockToo) {
  Running holder =
      start(Words{"run", "job"} + shell("echo > $D/ready; until [ -e $D/go ]; do sleep 0.1; done"));
  await("ready");
  EXPECT_EQ(run(hourly({"--", "true"})).code, 75) << "who does not wait";
  const Finished late = run(hourly({"--wait", "300ms", "--", "true"}));
  EXPECT_EQ(late.code, 75);
  EXPECT_NE(late.err.find("waited in vain for 'job', which is held by"), std::string::npos)
      << late.err;
  Running waiter = start(hourly({"--wait", "1m", "--"}) + Words{"true"});
  eventually("the waiter", [&] {
    const auto lock = run_json({"show", "job"});
    return !lock.at("waiters").as_array().empty();
  });
  EXPECT_TRUE(run_json({"show", "job~interval"}).at("holders").as_array().empty())
      << "the interval has not begun";
  write("go", "");
  EXPECT_EQ(holder.wait().code, 0);
  EXPECT_EQ(waiter.wait().code, 0);
  EXPECT_EQ(run(hourly({"--", "true"})).code, 75);
}

TEST_F(RunIntervalTest, AnOperatorMayEndTheInterval) {
  EXPECT_EQ(run(hourly({"--", "true"})).code, 0);
  EXPECT_EQ(run({"break", "job~interval", "--why", "by hand"}).code, 0);
  EXPECT_EQ(run(hourly({"--", "true"})).code, 0);
}

TEST_F(RunIntervalTest, AFailedRunCountsUnlessItMayBeRepeated) {
  EXPECT_EQ(run(hourly({"--on-failure", "retry", "--", "false"})).code, 1);
  EXPECT_EQ(run(hourly({"--", "false"})).code, 1);
  EXPECT_EQ(run(hourly({"--", "true"})).code, 75);
}

TEST_F(RunIntervalTest, AProgramThatCannotBeStartedHasNotRun) {
  EXPECT_EQ(run(hourly({"--", "/does/not/exist"})).code, 127);
  EXPECT_EQ(run(hourly({"--", "true"})).code, 0);
}

TEST_F(RunIntervalTest, ARunThatIsKilledCounts) {
  Running runner = start(hourly() + shell("echo ready > $D/ready; sleep 600"));
  await("ready");
  runner.signal(SIGKILL);
  EXPECT_TRUE(runner.wait().signalled);
  eventually("the end of its program", [&] {
    return run({"run", "job", "--wait", "0", "--", "true"}).code == 0;
  });
  EXPECT_EQ(run(hourly({"--", "true"})).code, 75);
}

TEST_F(RunIntervalTest, WhoWaitsRunsItWhenItIsDue) {
  const Words brief{"run", "job", "--at-most-every", "1s", "--wait", "30s", "--", "true"};
  EXPECT_EQ(run(brief).code, 0);
  EXPECT_EQ(run(brief).code, 0);
  EXPECT_EQ(run({"run", "job", "--at-most-every", "1h", "--wait", "30s", "--", "true"}).code, 0);
  EXPECT_EQ(run(hourly({"--", "true"})).code, 75);
}

// Eight processes start it again and again.
TEST_F(RunIntervalTest, EightProcessesRunItOncePerInterval) {
  constexpr std::size_t kRuns = 4;
  ASSERT_EQ(run({"acquire", "job~interval is watched", "--ttl", "1h"}).code, 0);
  Running watch = start({"watch", "job~interval", "--json"});
  const auto seen = [&] { return read_lines("holdfast.2.out").size(); };
  eventually("the watch", [&] { return seen() > 0; });
  const std::string loop =
      "until [ -e $D/stop ]; do $H run job --at-most-every 3s -- sh -c 'echo >> $D/runs' "
      "2> /dev/null; sleep 0.3; done; exit 0";
  std::vector<Running> fleet;
  for (int i = 0; i < 8; ++i) {
    fleet.push_back(start(Words{"run", "host" + std::to_string(i)} + shell(loop)));
  }
  eventually("enough runs", [&] { return read_lines("runs").size() >= kRuns; });
  write("stop", "");
  for (Running& host : fleet) EXPECT_EQ(host.wait().code, 0);
  const std::size_t runs = read_lines("runs").size();
  // Each is granted and released, but for the last.
  eventually("every run", [&] { return seen() >= 2 * runs; });
  watch.signal(SIGINT);
  const std::vector<std::int64_t> intervals = begins(watch.wait().out);
  EXPECT_EQ(intervals.size(), runs);
  EXPECT_GE(shortest_gap(intervals), 2990);
}

TEST_F(RunIntervalTest, WrongOptionsAreNamed) {
  EXPECT_EQ(run({"run", "job", "--at-most-every", "25h", "--", "true"}).code, 65);
  EXPECT_EQ(run({"run", "job", "--at-most-every", "soon", "--", "true"}).code, 65);
  EXPECT_EQ(run(hourly({"--on-failure", "panic", "--", "true"})).code, 65);
  EXPECT_EQ(run(hourly({"--shared", "--", "true"})).code, 64);
}

}  // namespace
}  // namespace holdfast::test
