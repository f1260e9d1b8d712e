#include <gtest/gtest.h>

#include <set>

#include "holdfast/observer.h"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

TEST(EventTest, JsonIsAnOpenTelemetryLogRecord) {
  const Error timeout{Errc::timeout, "waited \"long\"\n"};
  const std::string json = to_json({.kind = EventKind::refused,
                                    .mode = Mode::shared,
                                    .name = "reports/daily",
                                    .engine = "local:/run/locks",
                                    .waited = 1500ms,
                                    .error = &timeout,
                                    .trace_id = "abc"});
  EXPECT_TRUE(json.starts_with("{\"time_unix_nano\":\""));
  EXPECT_NE(json.find("\"severity_text\":\"INFO\",\"event_name\":\"holdfast.lock.refused\","
                      "\"trace_id\":\"abc\",\"attributes\":{\"holdfast.lock\":\"reports/daily\","
                      "\"holdfast.engine\":\"local:/run/locks\",\"holdfast.mode\":\"shared\","
                      "\"holdfast.waited_s\":1.5,\"error.type\":\"timeout\","
                      "\"error.message\":\"waited \\\"long\\\"\\u000a\"}}"),
            std::string::npos)
      << json;
}

TEST(EventTest, SeverityTellsTroubleFromTheOrdinary) {
  const auto severity = [](const Event& event) {
    const std::string json = to_json(event);
    const std::size_t at = json.find("\"severity_text\":\"") + 17;
    return json.substr(at, json.find('"', at) - at);
  };
  const Error busy{Errc::busy};
  const Error unavailable{Errc::unavailable};
  EXPECT_EQ(severity({.kind = EventKind::acquired}), "INFO");
  EXPECT_EQ(severity({.kind = EventKind::refused, .error = &busy}), "INFO");
  EXPECT_EQ(severity({.kind = EventKind::refused, .error = &unavailable}), "WARN");
  EXPECT_EQ(severity({.kind = EventKind::jeopardy}), "WARN");
  EXPECT_EQ(severity({.kind = EventKind::lost}), "ERROR");
}

TEST(EventTest, EveryKindHasANameOfItsOwn) {
  std::set<std::string_view> names;
  constexpr int kKinds = static_cast<int>(EventKind::conflict) + 1;
  for (int kind = 0; kind < kKinds; ++kind) names.insert(to_string(static_cast<EventKind>(kind)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kKinds));
  EXPECT_FALSE(names.contains("unknown"));
}

}  // namespace
}  // namespace holdfast
