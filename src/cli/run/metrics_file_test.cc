#include "cli/run/metrics_file.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "engines/local/test_directory.h"

namespace holdfast::cli {
namespace {

constexpr const char* kOnce =
    "# HELP runs_total Runs.\n"
    "# TYPE runs_total counter\n"
    "runs_total{result=\"a b\"} 1\n"
    "# HELP now Now.\n"
    "# TYPE now gauge\n"
    "now 3\n";

TEST(MetricsFileTest, CountersAddUpAndGaugesDoNot) {
  const std::string before =
      "# HELP runs_total Runs.\n# TYPE runs_total counter\nruns_total{result=\"a b\"} 2\n"
      "runs_total{result=\"other\"} 0.5\n# HELP now Now.\n# TYPE now gauge\nnow 7\n";
  EXPECT_EQ(add_metrics(before, kOnce),
            "# HELP runs_total Runs.\n# TYPE runs_total counter\nruns_total{result=\"a b\"} 3\n"
            "runs_total{result=\"other\"} 0.5\n# HELP now Now.\n# TYPE now gauge\nnow 3\n");
}

TEST(MetricsFileTest, WhatOthersHaveWrittenStays) {
  const std::string others =
      "# HELP disk_free Bytes.\n# TYPE disk_free gauge\ndisk_free{mount=\"/a } b\"} 1.5e9 "
      "1700000000\n"
      "plain +Inf\n# TYPE runs_total_of_others counter\nruns_total_of_others 4\n";
  const std::string once = add_metrics(others, kOnce);
  EXPECT_EQ(once, kOnce + others);
  const std::string twice = add_metrics(once, kOnce);
  EXPECT_TRUE(twice.ends_with("now 3\n" + others)) << twice;
  EXPECT_NE(twice.find("runs_total{result=\"a b\"} 2\n"), std::string::npos) << twice;
}

TEST(MetricsFileTest, NothingAndNonsenseBeforeCountAsNothing) {
  EXPECT_EQ(add_metrics("", kOnce), kOnce);
  EXPECT_EQ(add_metrics("what is this\nruns_total x\n# TYPE\n", kOnce), kOnce);
}

TEST(MetricsFileTest, ProcessesThatAddAtOnceLoseNothing) {
  const local::TestDirectory directory;
  const std::string path = directory.path() + "/runs.prom";
  constexpr int kProcesses = 4;
  constexpr int kRuns = 25;
  for (int i = 0; i < kProcesses; ++i) {
    if (fork() != 0) continue;
    bool good = true;
    for (int n = 0; n < kRuns; ++n) good = add_to_metrics_file(path, kOnce).has_value() && good;
    _exit(good ? 0 : 1);
  }
  for (int i = 0; i < kProcesses; ++i) {
    int status = 0;
    ASSERT_GT(wait(&status), 0);
    EXPECT_EQ(status, 0);
  }
  std::ostringstream text;
  text << std::ifstream{path}.rdbuf();
  EXPECT_NE(text.str().find("runs_total{result=\"a b\"} 100\n"), std::string::npos) << text.str();
}

TEST(MetricsFileTest, WhatCannotBeWrittenIsKnownBefore) {
  const local::TestDirectory directory;
  EXPECT_TRUE(check_metrics_file(directory.path() + "/runs.prom"));
  EXPECT_TRUE(std::filesystem::is_empty(directory.path())) << "it leaves nothing behind";
  EXPECT_EQ(check_metrics_file(directory.path() + "/no/runs.prom").error().code, Errc::io_error);
  EXPECT_EQ(check_metrics_file(directory.path()).error().code, Errc::invalid_argument);
}

}  // namespace
}  // namespace holdfast::cli
