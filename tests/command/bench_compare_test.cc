// bench compare: engines side by side, with what is missing and why.

#include <gtest/gtest.h>

#include <boost/json/array.hpp>
#include <csignal>
#include <filesystem>

#include "tests/command/harness.h"

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;
using boost::json::object;

class BenchCompareTest : public CommandTest {
 protected:
  BenchCompareTest() { fs::create_directory(path("tmp")); }

  Launch compare(const Words& arguments) const {
    return {.arguments = Words{"bench", "compare"} + arguments,
            .environment = {{"TMPDIR", path("tmp")}}};
  }

  bool nothing_left_behind() const { return fs::is_empty(path("tmp")); }
};

TEST_F(BenchCompareTest, WhatIsUpIsMeasuredAndWhatIsNotIsNamed) {
  const Finished finished = run(
      compare({"local", "redis://u:secret@127.0.0.1:1", "--json", "--svg", path("engines.svg")}));
  EXPECT_EQ(finished.code, 69) << "one of those that were named is not there";
  EXPECT_EQ(finished.err, "");
  EXPECT_EQ(finished.out.find("secret"), std::string::npos);
  const object report = parse_object(finished.out);
  EXPECT_GT(report.at("cores").to_number<int>(), 0);
  ASSERT_EQ(report.at("engines").as_array().size(), 1U);
  const object& local = report.at("engines").as_array()[0].as_object();
  EXPECT_EQ(local.at("engine").as_string(), "local");
  ASSERT_EQ(local.at("cases").as_array().size(), 2U);
  for (const auto& one : local.at("cases").as_array()) {
    EXPECT_GT(one.at("p50_ns").to_number<double>(), 0);
    EXPECT_GE(one.at("p99_ns").to_number<double>(), one.at("p50_ns").to_number<double>());
    EXPECT_GT(one.at("samples").to_number<int>(), 0);
  }
  ASSERT_EQ(report.at("missing").as_array().size(), 1U);
  const object& missing = report.at("missing").as_array()[0].as_object();
  EXPECT_EQ(missing.at("engine").as_string(), "redis://127.0.0.1:1");
  EXPECT_EQ(missing.at("code").as_string(), "unavailable");
  EXPECT_FALSE(missing.at("remedy").as_string().empty());
  const std::string chart = read("engines.svg");
  EXPECT_NE(chart.find(">local</text>"), std::string::npos);
  EXPECT_NE(chart.find("Not measured: redis://127.0.0.1:1"), std::string::npos);
  EXPECT_TRUE(nothing_left_behind());
}

TEST_F(BenchCompareTest, AServerThatIsNotInstalledIsNamedWithHowToGetIt) {
  Launch launch = compare({"redis", "etcd", "zookeeper"});
  launch.environment["PATH"] = path("tmp");
  const Finished finished = run(launch);
  EXPECT_EQ(finished.code, 69);
  for (const char* words : {"redis             not measured: no redis-server could be started",
                            "apt-get install redis-server",
                            "etcd              not measured:",
                            "apt-get install zookeeper"}) {
    EXPECT_NE(finished.out.find(words), std::string::npos) << words << "\n" << finished.out;
  }
  EXPECT_EQ(finished.err, "") << "a bar is for terminals";
  EXPECT_TRUE(nothing_left_behind());
}

TEST_F(BenchCompareTest, AChartThatCannotBeWrittenIsAnErrorAfterTheFigures) {
  Launch launch = compare({"redis", "--svg", path("no/such/folder.svg"), "--json"});
  launch.environment["PATH"] = path("tmp");
  const Finished finished = run(launch);
  EXPECT_EQ(finished.code, 74);
  EXPECT_EQ(parse_object(finished.out).at("missing").as_array().size(), 1U);
  EXPECT_NE(finished.err.find("folder.svg"), std::string::npos) << finished.err;
}

TEST_F(BenchCompareTest, ASignalEndsItAndLeavesNothing) {
  Running measuring = start(compare({"local"}));
  ASSERT_TRUE(eventually("the engine's directory", [&] { return !nothing_left_behind(); }));
  measuring.signal(SIGINT);
  EXPECT_EQ(measuring.wait().code, 130);
  EXPECT_TRUE(nothing_left_behind());
}

TEST_F(BenchCompareTest, WhatIsNotUnderstoodIsRefused) {
  EXPECT_EQ(run({"bench"}).code, 64);
  EXPECT_EQ(run({"bench", "compare", "--frob"}).code, 64);
  EXPECT_EQ(run({"bench", "local", "extra"}).code, 64);
  const Finished unknown = run({"bench", "compare", "oracle"});
  EXPECT_EQ(unknown.code, 65);
  EXPECT_NE(unknown.err.find("there is no engine 'oracle'"), std::string::npos) << unknown.err;
  EXPECT_NE(unknown.err.find("postgres-advisory"), std::string::npos) << unknown.err;
}

TEST_F(BenchCompareTest, HelpNamesTheEngines) {
  const Finished finished = run({"bench", "compare", "--help"});
  EXPECT_EQ(finished.code, 0);
  for (const char* words : {"postgres-advisory", "Examples:", "--svg"}) {
    EXPECT_NE(finished.out.find(words), std::string::npos) << words;
  }
}

}  // namespace
}  // namespace holdfast::test
