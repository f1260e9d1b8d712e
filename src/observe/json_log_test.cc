#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "client/fake_backend.h"
#include "engines/local/test_directory.h"
#include "holdfast/observer.h"

namespace holdfast {
namespace {

using testing::FakeBackend;

struct JsonLogTest : ::testing::Test {
  std::vector<std::string> lines() const {
    std::ifstream file{path};
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  local::TestDirectory directory;
  std::string path = directory.path() + "/locks.jsonl";
};

TEST_F(JsonLogTest, EveryOperationIsALineAndNoneHasTheOwnersSecret) {
  const auto engine = std::make_shared<FakeBackend>();
  const auto log = json_log(path);
  ASSERT_TRUE(log);
  Client client = observed(Client{engine}, *log);
  std::vector<std::string> secrets;
  for (const char* name : {"a", "b"}) {
    auto lease = client.acquire(name, {.label = "nightly"});
    ASSERT_TRUE(lease && lease->renew());
    secrets.push_back(lease->owner().to_string());
    ASSERT_FALSE(client.try_acquire(name));
    ASSERT_TRUE(client.renew(name, lease->owner(), Millis{1000}));
    engine->last()->lose(LossReason::gone);
    lease->release();
  }
  const auto written = lines();
  EXPECT_EQ(written.size(), 12u);
  for (const std::string& line : written) {
    EXPECT_TRUE(line.starts_with("{\"time_unix_nano\":") && line.ends_with("}}")) << line;
    for (const std::string& secret : secrets) EXPECT_EQ(line.find(secret), std::string::npos);
  }
}

TEST_F(JsonLogTest, LinesOfThreadsAndOfSeveralLogsStayWhole) {
  constexpr int kThreads = 4;
  constexpr int kLines = 500;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        const auto log = json_log(path);
        for (int n = 0; n < kLines; ++n) {
          (*log)->observe({.kind = EventKind::acquired, .name = "reports/daily"});
        }
      });
    }
  }
  const auto written = lines();
  EXPECT_EQ(written.size(), std::size_t{kThreads * kLines});
  for (const std::string& line : written) {
    EXPECT_TRUE(line.starts_with("{\"time_unix_nano\":") && line.ends_with("}}")) << line;
  }
}

TEST_F(JsonLogTest, FileThatCannotBeOpenedIsAnError) {
  EXPECT_EQ(json_log(directory.path() + "/no/where").error().code, Errc::io_error);
}

}  // namespace
}  // namespace holdfast
