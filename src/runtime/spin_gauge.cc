#include "runtime/spin_gauge.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "base/decimal.h"
#include "base/invalid.h"

namespace holdfast::runtime {

Result<Duration> longest_look(const char* text) {
  constexpr Duration kUsual = std::chrono::microseconds{300};
  constexpr std::int64_t kMostUs = 10'000;
  if (text == nullptr) return kUsual;
  const auto us = parse_decimal<std::int64_t>(std::string_view{text});
  if (!us || *us < 0 || *us > kMostUs) {
    return invalid("HOLDFAST_SPIN_US is \"" + std::string{text} + "\"",
                   "set it to 0 to 10000 microseconds, or not at all");
  }
  return Duration{std::chrono::microseconds{*us}};
}

}  // namespace holdfast::runtime
