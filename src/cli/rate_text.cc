#include "cli/rate_text.h"

#include <fmt/format.h>

#include <array>
#include <string>

#include "base/decimal.h"
#include "base/invalid.h"
#include "cli/duration.h"
#include "cli/text.h"

namespace holdfast::cli {

Result<Rate> parse_rate(std::string_view text) {
  constexpr std::array<std::string_view, 4> kUnits{"s", "m", "h", "d"};
  const auto wrong = [&] {
    return holdfast::invalid(fmt::format("'{}' is not a rate", printable(std::string{text})),
                             "say how many in what time, as in 10/s, 100/m or 3/10s");
  };
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return wrong();
  const auto permits = parse_decimal<std::uint64_t>(text.substr(0, slash));
  if (!permits) return wrong();
  std::string time{text.substr(slash + 1)};
  for (const std::string_view unit : kUnits) {
    if (time == unit) time.insert(0, "1");
  }
  const auto per = parse_duration(time);
  if (!per) return wrong();
  return Rate{.permits = *permits, .per = *per};
}

}  // namespace holdfast::cli
