#include "base/url_timeout.h"

#include <charconv>
#include <cstdint>

#include "base/invalid.h"

namespace holdfast {

Result<Millis> parse_url_timeout(std::string_view text) {
  constexpr Millis kMax{std::chrono::hours{24}};
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  const std::int64_t scale = unit == "ms" ? 1 : unit == "s" ? 1000 : unit == "m" ? 60'000 : 0;
  if (error != std::errc{} || scale == 0 || count <= 0 || count > kMax.count() / scale) {
    return invalid("the timeout of the engine URL is not a duration up to 24 h",
                   "write for example timeout=500ms or timeout=5s");
  }
  return Millis{count * scale};
}

}  // namespace holdfast
