#include "tests/transcripts/words.h"

#include <array>
#include <cstdint>
#include <cstdio>

#include "base/decimal.h"

namespace holdfast::transcripts {

Unexpected<Error> wrong(std::string message) {
  return Unexpected{Error{Errc::invalid_argument, std::move(message)}};
}

Result<Duration> parse_time(std::string_view text) {
  struct Unit {
    std::string_view name;
    Duration length;
  };
  constexpr std::array kUnits{Unit{"ms", std::chrono::milliseconds{1}},
                              Unit{"min", std::chrono::minutes{1}},
                              Unit{"s", std::chrono::seconds{1}}};
  std::string_view digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  for (const Unit& unit : kUnits) {
    if (!digits.ends_with(unit.name)) continue;
    digits.remove_suffix(unit.name.size());
    if (const auto count = parse_decimal<std::int32_t>(digits)) return *count * unit.length;
    break;
  }
  return wrong("'" + std::string{text} + "' is no time such as 10s, 200ms or 2min");
}

std::string in_seconds(Duration time) {
  const auto ms = std::chrono::duration_cast<Millis>(time).count();
  std::array<char, 32> text{};
  std::snprintf(text.data(),
                text.size(),
                "%s%lld.%03llds",
                ms < 0 ? "-" : "",
                static_cast<long long>(ms < 0 ? -ms : ms) / 1000,
                static_cast<long long>(ms < 0 ? -ms : ms) % 1000);
  return text.data();
}

std::string node_name(std::size_t index) { return "n" + std::to_string(index + 1); }

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += between;
    text += part;
  }
  return text;
}

}  // namespace holdfast::transcripts
