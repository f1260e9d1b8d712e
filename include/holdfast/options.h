// What can be asked of an acquisition, and the limits every engine keeps.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "holdfast/clock.h"
#include "holdfast/token.h"

namespace holdfast {

inline constexpr std::size_t kNameBytesMax = 512;
inline constexpr std::size_t kMetadataBytesMax = 4096;
inline constexpr Millis kTtlMin{100};
inline constexpr Millis kTtlMax{std::chrono::hours{24}};

/// `wait` value: queue until granted or cancelled.
inline constexpr Millis kForever = Millis::max();

/// What keeps a lease alive.
enum class LeaseKind : std::uint8_t {
  /// Renewed in the background until released; ends at once when its process dies.
  session,
  /// Ends after its TTL unless renewed by owner; survives the process. For scripts.
  detached,
};

/// Options of one acquisition. The views are copied at once: temporaries are fine.
struct AcquireOptions {
  Mode mode = Mode::exclusive;
  /// Mode::permit: how many may hold at once (1 or more). Otherwise leave it 0.
  std::uint32_t permits = 0;
  /// Lifetime of the grant unless renewed: 100 ms to 24 h.
  Millis ttl{30'000};
  /// How long to queue while somebody else holds the lock. Zero: one attempt, then Errc::busy.
  Millis wait = kForever;
  LeaseKind kind = LeaseKind::session;
  /// If this holder vanishes (dies or expires, rather than releases), nobody is granted the lock
  /// for this long: for resources that cannot check tokens. At most 24 h.
  Millis lock_delay{0};
  /// Shown to people who look at the lock. Label and trace id: 4 KiB together.
  std::string_view label{};
  std::string_view trace_id{};
};

// Keeps `co_await async_acquire(client, name, {.ttl = 5s}, …)` sound under g++ 12, which destroys
// aggregate temporaries of an awaiting expression twice (docs/adr/0003-bind-before-you-await.md).
static_assert(std::is_trivially_destructible_v<AcquireOptions>);

}  // namespace holdfast
