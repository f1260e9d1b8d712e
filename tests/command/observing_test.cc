// What `run` tells others of its lock, and what `advise` makes of it.

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <filesystem>

#include "tests/command/harness.h"

namespace holdfast::test {
namespace {

class ObservingTest : public CommandTest {};

TEST_F(ObservingTest, RunsAddUpInAFileForPrometheus) {
  const std::string file = path("holdfast.prom");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(run({"run", "x", "--metrics", file, "--", "true"}).code, 0);
  }
  EXPECT_EQ(run(Launch{.arguments = {"run", "x", "--", "true"},
                       .environment = {{"HOLDFAST_METRICS", file}}})
                .code,
            0);
  const std::string text = read("holdfast.prom");
  EXPECT_NE(text.find("\nholdfast_acquisitions_total{contended=\"false\"} 4\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("\nholdfast_hold_seconds_count 4\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nholdfast_leases 0\n"), std::string::npos) << text;
}

TEST_F(ObservingTest, RefusedRunIsCounted) {
  Running holder = start(Words{"run", "x"} + shell("echo > $D/ready; while :; do sleep 1; done"));
  await("ready");
  const std::string file = path("holdfast.prom");
  EXPECT_EQ(run({"run", "x", "--wait", "0", "--metrics", file, "--", "true"}).code, 75);
  EXPECT_NE(read("holdfast.prom").find("holdfast_refusals_total{reason=\"busy\"} 1\n"),
            std::string::npos);
}

TEST_F(ObservingTest, MetricsThatCannotBeWrittenEndTheRunBeforeItBegins) {
  const Finished finished =
      run(Words{"run", "x", "--metrics", path("no/where")} + shell("echo > $D/ran"));
  EXPECT_EQ(finished.code, 74);
  EXPECT_NE(finished.err.find("--metrics: "), std::string::npos) << finished.err;
  EXPECT_FALSE(exists("ran"));
}

TEST_F(ObservingTest, MetricsThatCannotBeWrittenAnyMoreDoNotFailTheRun) {
  std::filesystem::create_directory(path("folder"));
  const Finished finished =
      run(Words{"run", "x", "--metrics", path("folder/runs.prom")} + shell("rm -r $D/folder"));
  EXPECT_EQ(finished.code, 0);
  EXPECT_NE(finished.err.find("folder"), std::string::npos) << finished.err;
}

TEST_F(ObservingTest, WhatOthersHaveWrittenIntoTheFileOfMetricsStays) {
  write("all.prom", "# HELP up Up.\n# TYPE up gauge\nup{job=\"a\"} 1\n");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(run({"run", "x", "--metrics", path("all.prom"), "--", "true"}).code, 0);
  }
  const std::string text = read("all.prom");
  EXPECT_NE(text.find("# HELP up Up.\n# TYPE up gauge\nup{job=\"a\"} 1\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("\nholdfast_hold_seconds_count 2\n"), std::string::npos) << text;
}

TEST_F(ObservingTest, NothingButAPlainFileIsReplacedByMetrics) {
  const std::string link = path("link");
  ASSERT_EQ(symlink("/dev/null", link.c_str()), 0);
  const Finished refused = run({"run", "x", "--metrics", link, "--", "true"});
  EXPECT_EQ(refused.code, 65);
  EXPECT_NE(refused.err.find("is no plain file"), std::string::npos) << refused.err;
  EXPECT_EQ(run({"run", "x", "--metrics", "/dev/null", "--", "true"}).code, 65);
}

TEST_F(ObservingTest, LogHasEveryOperationAndNoSecret) {
  const std::string log = path("locks.jsonl");
  EXPECT_EQ(run(Words{"run", "x", "--log", log, "--label", "nightly"} +
                shell("echo $HOLDFAST_OWNER > $D/owner; echo $HOLDFAST_TOKEN > $D/token"))
                .code,
            0);
  std::string owner = await("owner");
  owner.pop_back();
  ASSERT_EQ(owner.size(), 32u);
  EXPECT_EQ(read("locks.jsonl").find(owner), std::string::npos);
  std::vector<std::string> events;
  for (const std::string& line : read_lines("locks.jsonl")) {
    const auto record = parse_object(line);
    events.emplace_back(record.at("event_name").as_string());
    const auto& attributes = record.at("attributes").as_object();
    EXPECT_EQ(attributes.at("holdfast.lock").as_string(), "x");
    EXPECT_EQ(std::to_string(attributes.at("holdfast.token").as_int64()) + "\n", read("token"));
  }
  EXPECT_EQ(events, (std::vector<std::string>{"holdfast.lock.acquired", "holdfast.lock.released"}));
}

TEST_F(ObservingTest, PasswordInTheUrlIsNotLogged) {
  const std::string log = path("locks.jsonl");
  const Finished finished = run({"run",
                                 "x",
                                 "--log",
                                 log,
                                 "--wait",
                                 "0",
                                 "--engine",
                                 "redis://user:hunter2@127.0.0.1:1/0?timeout=100ms",
                                 "--",
                                 "true"});
  EXPECT_NE(finished.code, 0);
  EXPECT_EQ(read("locks.jsonl").find("hunter2"), std::string::npos);
  EXPECT_EQ((finished.out + finished.err).find("hunter2"), std::string::npos);
}

TEST_F(ObservingTest, LogThatCannotBeOpenedEndsTheRunBeforeItBegins) {
  const Finished finished =
      run(Words{"run", "x", "--log", path("no/where")} + shell("echo > $D/ran"));
  EXPECT_EQ(finished.code, 74);
  EXPECT_FALSE(exists("ran"));
}

TEST_F(ObservingTest, AdviceRestsOnWhatRunsMeasured) {
  const Finished nothing = run({"advise", "x"});
  EXPECT_EQ(nothing.code, 66);
  EXPECT_NE(nothing.err.find("--measure"), std::string::npos);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(run({"run", "x", "--measure", "--", "true"}).code, 0);
  EXPECT_EQ(run(Launch{.arguments = {"run", "x", "--", "true"},
                       .environment = {{"HOLDFAST_MEASURE", "1"}}})
                .code,
            0);
  const auto advice = run_json({"advise", "x"});
  EXPECT_EQ(advice.at("hold").as_object().at("samples").as_int64(), 3);
  EXPECT_EQ(advice.at("wait").as_object().at("samples").as_int64(), 3);
  EXPECT_EQ(advice.at("contended").as_int64(), 0);
  EXPECT_GE(advice.at("ttl_ms").as_int64(), 1000);
  const Finished text = run({"advise", "x"});
  EXPECT_EQ(text.code, 0);
  for (const char* part : {"3 samples", "--ttl", "`update`", "`once`", "local:"}) {
    EXPECT_NE(text.out.find(part), std::string::npos) << part << "\n" << text.out;
  }
  EXPECT_EQ(run({"erase", "holdfast/times/x"}).code, 0);
  EXPECT_EQ(run({"advise", "x"}).code, 66);
}

TEST_F(ObservingTest, RunThatIsNotMeasuredLeavesNothing) {
  EXPECT_EQ(run({"run", "x", "--", "true"}).code, 0);
  for (const char* no : {"", "0", "no", "off", "false"}) {
    EXPECT_EQ(run(Launch{.arguments = {"run", "x", "--", "true"},
                         .environment = {{"HOLDFAST_MEASURE", no}}})
                  .code,
              0);
  }
  EXPECT_EQ(run({"advise", "x"}).code, 66);
}

TEST_F(ObservingTest, NeitherYesNorNoToMeasuringIsNamed) {
  const Launch unclear{.arguments = {"run", "x", "--", "true"},
                       .environment = {{"HOLDFAST_MEASURE", "perhaps"}}};
  const Finished refused = run(unclear);
  EXPECT_EQ(refused.code, 65);
  EXPECT_NE(refused.err.find("HOLDFAST_MEASURE: 'perhaps'"), std::string::npos) << refused.err;
}

TEST_F(ObservingTest, WhoMeetsNobodyIsNotCountedAsHavingWaited) {
  EXPECT_EQ(run({"run", "x", "--and", "y", "--measure", "--", "true"}).code, 0);
  EXPECT_EQ(run({"run", "x", "--at-most-every", "1h", "--measure", "--", "true"}).code, 0);
  for (const char* name : {"x", "y", "x~interval"}) {
    const auto advice = run_json({"advise", name});
    EXPECT_GT(advice.at("wait").as_object().at("samples").as_int64(), 0) << name;
    EXPECT_EQ(advice.at("contended").as_int64(), 0) << name;
  }
}

}  // namespace
}  // namespace holdfast::test
