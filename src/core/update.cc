#include "core/update.h"

#include <string>

#include "base/backoff.h"
#include "base/invalid.h"
#include "base/secret.h"

namespace holdfast::core {

Duration update_pause(std::uint32_t conflicts) {
  constexpr BackoffPolicy kPauses{.first = std::chrono::milliseconds{1},
                                  .max = std::chrono::milliseconds{250}};
  const Owner::Bytes chance = fresh_owner().bytes();
  std::uint64_t draw = 0;
  for (std::size_t at = 0; at < sizeof draw; ++at) draw = draw << 8 | chance[at];
  return backoff_delay(kPauses, conflicts - 1, draw);
}

Result<void> check_update(const UpdateOptions& options) {
  constexpr std::uint32_t kAttemptsMax = 1'000'000;
  if (options.attempts >= 1 && options.attempts <= kAttemptsMax) return {};
  return invalid(std::to_string(options.attempts) + " attempts are out of range",
                 "use 1 to 1000000");
}

StoreError too_many_conflicts(std::uint32_t attempts) {
  return {Errc::too_many_conflicts,
          "somebody else changed the key first, " + std::to_string(attempts) + " times in a row"};
}

}  // namespace holdfast::core
