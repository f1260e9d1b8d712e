#include "cli/run/metrics_file.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

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

}  // namespace
}  // namespace holdfast::cli
