#include "holdfast/metrics.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "engines/local/test_directory.h"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

Event granted(Duration waited, bool contended) {
  return {.kind = EventKind::acquired,
          .contended = contended,
          .name = "x",
          .token = Token{1},
          .waited = waited};
}

TEST(MetricsTest, EventsAreCountedByWhatTheyAre) {
  Metrics metrics;
  const Error busy{Errc::busy};
  const Error unknown{Errc::unknown_outcome};
  metrics.observe(granted(0ns, false));
  metrics.observe(granted(20ms, true));
  metrics.observe({.kind = EventKind::refused, .name = "x", .error = &busy});
  metrics.observe({.kind = EventKind::renewed, .name = "x"});
  metrics.observe({.kind = EventKind::renewed, .name = "x", .error = &unknown});
  metrics.observe({.kind = EventKind::jeopardy, .name = "x"});
  metrics.observe({.kind = EventKind::lost, .reason = LossReason::expired, .name = "x"});
  metrics.observe({.kind = EventKind::broken, .name = "x"});
  metrics.observe({.kind = EventKind::stale, .name = "x"});
  metrics.observe({.kind = EventKind::conflict, .name = "x"});
  metrics.observe({.kind = EventKind::released,
                   .outcome = ReleaseOutcome::already_lost,
                   .name = "x",
                   .token = Token{1},
                   .held = 2s});
  const std::string text = metrics.prometheus();
  for (const char* line : {"holdfast_acquisitions_total{contended=\"false\"} 1",
                           "holdfast_acquisitions_total{contended=\"true\"} 1",
                           "holdfast_refusals_total{reason=\"busy\"} 1",
                           "holdfast_renewals_total{result=\"renewed\"} 1",
                           "holdfast_renewals_total{result=\"unknown_outcome\"} 1",
                           "holdfast_jeopardy_total 1",
                           "holdfast_losses_total{reason=\"expired\"} 1",
                           "holdfast_losses_total{reason=\"broken\"} 0",
                           "holdfast_takeovers_total 1",
                           "holdfast_stale_refusals_total 1",
                           "holdfast_conflicts_total 1",
                           "holdfast_releases_total{outcome=\"already_lost\"} 1",
                           "holdfast_leases 1",
                           "holdfast_wait_seconds_bucket{le=\"1e-06\"} 1",
                           "holdfast_wait_seconds_bucket{le=\"0.05\"} 2",
                           "holdfast_wait_seconds_bucket{le=\"+Inf\"} 2",
                           "holdfast_wait_seconds_sum 0.02",
                           "holdfast_wait_seconds_count 2",
                           "holdfast_hold_seconds_bucket{le=\"1\"} 0",
                           "holdfast_hold_seconds_bucket{le=\"5\"} 1",
                           "holdfast_hold_seconds_sum 2",
                           "# TYPE holdfast_hand_over_seconds histogram"}) {
    EXPECT_TRUE(has_line(text, line)) << line << "\n" << text;
  }
}

TEST(MetricsTest, NoLabelHasALocksNameUnlessAskedFor) {
  Metrics plain;
  plain.observe({.kind = EventKind::acquired, .name = "payroll"});
  EXPECT_EQ(plain.prometheus().find("payroll"), std::string::npos);

  Metrics named{{.locks = LockLabels::by_name, .names_max = 2}};
  for (const char* name : {"payroll", "say \"hi\"", "third", "fourth"}) {
    named.observe({.kind = EventKind::acquired, .name = name, .token = Token{1}});
  }
  const std::string text = named.prometheus();
  EXPECT_TRUE(
      has_line(text, "holdfast_acquisitions_total{lock=\"payroll\",contended=\"false\"} 1"));
  EXPECT_TRUE(has_line(text, "holdfast_leases{lock=\"say \\\"hi\\\"\"} 1"));
  EXPECT_TRUE(has_line(text, "holdfast_leases{lock=\"other\"} 2"));
}

TEST(MetricsTest, EveryThreadIsCountedAlsoWhenItHasEnded) {
  constexpr int kThreads = 8;
  constexpr int kEvents = 10'000;
  Metrics metrics;
  Metrics other;
  for (int round = 0; round < 2; ++round) {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < kEvents; ++n) metrics.observe(granted(0ns, false));
        other.observe(granted(0ns, false));
        metrics.observe(granted(0ns, false));
      });
    }
  }
  const std::string count = std::to_string(2 * kThreads * (kEvents + 1));
  EXPECT_TRUE(
      has_line(metrics.prometheus(), "holdfast_acquisitions_total{contended=\"false\"} " + count));
  EXPECT_TRUE(
      has_line(other.prometheus(),
               "holdfast_acquisitions_total{contended=\"false\"} " + std::to_string(2 * kThreads)));
}

// Each line is a comment, or a name with labels and a value, and each sample follows its TYPE.
TEST(MetricsTest, TextIsWhatPrometheusReads) {
  Metrics metrics;
  metrics.observe(granted(3ms, true));
  std::istringstream text{metrics.prometheus()};
  std::string family;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("# HELP ")) continue;
    if (line.starts_with("# TYPE ")) {
      family = line.substr(7, line.find(' ', 7) - 7);
      continue;
    }
    EXPECT_TRUE(line.starts_with(family)) << line;
    const std::size_t value = line.rfind(' ');
    ASSERT_NE(value, std::string::npos) << line;
    std::size_t used = 0;
    static_cast<void>(std::stod(line.substr(value + 1), &used));
    EXPECT_EQ(used, line.size() - value - 1) << line;
  }
}

TEST(MetricsTest, FileIsReplacedInOneStep) {
  const local::TestDirectory directory;
  const std::string path = directory.path() + "/holdfast.prom";
  Metrics metrics;
  ASSERT_TRUE(metrics.write_file(path));
  metrics.observe(granted(0ns, false));
  ASSERT_TRUE(metrics.write_file(path));
  std::ostringstream content;
  content << std::ifstream{path}.rdbuf();
  EXPECT_EQ(content.str(), metrics.prometheus());
  const auto entries = std::filesystem::directory_iterator{directory.path()};
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
  EXPECT_EQ(metrics.write_file(directory.path() + "/no/where").error().code, Errc::io_error);
}

}  // namespace
}  // namespace holdfast
