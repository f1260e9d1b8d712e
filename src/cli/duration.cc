#include "cli/duration.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <optional>

#include "holdfast/options.h"

namespace holdfast::cli {
namespace {

struct Unit {
  std::string_view suffix;
  std::int64_t millis;
};

constexpr std::array kUnits{
    Unit{"ms", 1},
    Unit{"s", 1000},
    Unit{"m", 60'000},
    Unit{"h", 3'600'000},
    Unit{"d", 86'400'000},
};

// Bounds the arithmetic below: 10^9 days in milliseconds still fit in 64 bits.
constexpr std::size_t kDigitsMax = 9;

Unexpected<Error> refuse(std::string_view text, std::string_view what) {
  return Unexpected{Error{Errc::invalid_argument,
                          fmt::format("'{}' is not a duration: {}", text, what),
                          "write it as 100ms, 30s, 1.5s, 5m or 24h"}};
}

std::string_view take_digits(std::string_view& rest) {
  const std::size_t end = std::min(rest.find_first_not_of("0123456789"), rest.size());
  const std::string_view digits = rest.substr(0, end);
  rest.remove_prefix(end);
  return digits;
}

std::int64_t number(std::string_view digits) {
  std::int64_t value = 0;
  for (const char digit : digits) value = value * 10 + (digit - '0');
  return value;
}

std::optional<std::int64_t> unit_millis(std::string_view suffix) {
  for (const Unit& unit : kUnits) {
    if (unit.suffix == suffix) return unit.millis;
  }
  return std::nullopt;
}

}  // namespace

Result<Millis> parse_duration(std::string_view text) {
  std::string_view rest = text;
  if (rest.empty()) return refuse(text, "it is empty");
  if (rest.front() == '-') return refuse(text, "it is negative");
  const std::string_view whole = take_digits(rest);
  std::string_view fraction;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    fraction = take_digits(rest);
    if (fraction.empty()) return refuse(text, "no digits follow the point");
  }
  if (whole.empty()) return refuse(text, "it does not begin with a number");
  if (whole.size() > kDigitsMax || fraction.size() > kDigitsMax) {
    return refuse(text, "it has too many digits");
  }
  if (rest.empty()) {
    if (number(whole) == 0 && number(fraction) == 0) return Millis{0};
    return refuse(text, "the unit is missing");
  }
  const auto unit = unit_millis(rest);
  if (!unit) return refuse(text, fmt::format("unknown unit '{}'", rest));
  std::int64_t scale = 1;
  for (std::size_t i = 0; i < fraction.size(); ++i) scale *= 10;
  const std::int64_t parts = number(fraction) * *unit;
  if (parts % scale != 0) return refuse(text, "it is finer than a millisecond");
  return Millis{number(whole) * *unit + parts / scale};
}

Result<Millis> parse_wait(std::string_view text) {
  if (text == "forever") return kForever;
  auto wait = parse_duration(text);
  if (!wait) wait.error().remedy_text = "write it as forever, 0, 100ms, 30s, 1.5s, 5m or 24h";
  return wait;
}

std::string format_duration(Millis duration) {
  const std::int64_t ms = duration.count();
  if (ms < 1000) return fmt::format("{}ms", ms);
  if (ms < 60'000) {
    const std::int64_t tenths = ms / 100;
    return tenths % 10 == 0 ? fmt::format("{}s", tenths / 10)
                            : fmt::format("{}.{}s", tenths / 10, tenths % 10);
  }
  const std::int64_t minutes = ms / 60'000;
  const std::int64_t seconds = ms / 1000 % 60;
  if (minutes < 60) {
    return seconds == 0 ? fmt::format("{}m", minutes) : fmt::format("{}m{}s", minutes, seconds);
  }
  const std::int64_t hours = minutes / 60;
  return minutes % 60 == 0 ? fmt::format("{}h", hours) : fmt::format("{}h{}m", hours, minutes % 60);
}

}  // namespace holdfast::cli
