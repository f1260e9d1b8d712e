// The values a store takes and gives.

#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "holdfast/clock.h"
#include "holdfast/error.h"
#include "holdfast/token.h"

namespace holdfast {

inline constexpr std::size_t kValueBytesMax = std::size_t{1} << 20;

/// Rises with every change of one key and never comes back, not even after an erase.
class Version {
 public:
  constexpr explicit Version(std::uint64_t value) : value_{value} {}
  /// What a key without a value has.
  static constexpr Version absent() { return Version{0}; }
  constexpr std::uint64_t value() const { return value_; }
  friend constexpr auto operator<=>(Version, Version) = default;

 private:
  std::uint64_t value_;
};

/// A stored value.
struct Entry {
  std::string value;
  Version version{0};
  /// Of the holder that wrote it; empty when it was written without a token.
  std::optional<Token> token{};
  std::uint64_t sequence{0};
};

/// Why a store did not do it. Besides the code:
struct StoreError : Error {
  using Error::Error;
  StoreError(Error error) : Error{std::move(error)} {}

  /// stale_token: the token of the call, and the one that is in its way.
  std::optional<Token> yours{};
  std::optional<Token> highest{};
  /// version_conflict: what the key is at now.
  std::optional<Version> actual{};
};

enum class Applied : std::uint8_t {
  /// Done by this call.
  applied,
  /// An exact repetition of the last operation: it had been done, and nothing changed.
  duplicate,
};

/// What became of a fenced write or erase.
struct WriteReceipt {
  Applied applied{Applied::applied};
  Version version{0};
  Token token{0};
  std::uint64_t sequence{0};
};

/// How often one token may write to a resource.
enum class WritePolicy : std::uint8_t {
  /// As often as it likes, until a newer token comes.
  many,
  /// Once. For resources where one grant of the lock must have one effect.
  strict,
};

struct OpenOptions {
  /// Fixed by the resource's first open. Empty: many for a new resource, else what it has.
  std::optional<WritePolicy> policy{};
};

struct PutOptions {
  /// Only if the key is at this version; Version::absent(): only if there is none.
  std::optional<Version> if_version{};
};

struct EraseOptions {
  std::optional<Version> if_version{};
};

struct UpdateOptions {
  /// How often to read, compute and try. 1 to 1 000 000.
  std::uint32_t attempts{100};
};

/// What update() did.
struct UpdateReport {
  /// Empty: the function left the key alone.
  std::optional<Version> version{};
  /// How many attempts were in vain because somebody else came first.
  std::uint32_t conflicts{0};
};

/// What once() keeps: whatever the function made, and how it went.
struct OnceResult {
  /// 0: success.
  std::int32_t status{0};
  std::string bytes{};
};

enum class OnFailure : std::uint8_t {
  /// Keep it like a success: later callers get the same failure.
  store,
  /// Keep nothing: the next caller runs.
  retry,
};

struct OnceOptions {
  /// How long later callers get the stored result.
  Millis keep{std::chrono::hours{24}};
  /// How long to wait for another caller that is running it. Zero: in_progress at once.
  Millis wait = Millis::max();
  /// Of the runner's lease: how long others wait when it dies without notice.
  Millis ttl{30'000};
  OnFailure on_failure = OnFailure::store;
};

/// Whether once() ran the function or found its result.
enum class Ran : std::uint8_t { here, before };

struct OnceReport {
  OnceResult result{};
  Ran ran{Ran::here};
};

static_assert(std::is_trivially_destructible_v<OpenOptions>);
static_assert(std::is_trivially_destructible_v<PutOptions>);
static_assert(std::is_trivially_destructible_v<UpdateOptions>);
static_assert(std::is_trivially_destructible_v<OnceOptions>);

}  // namespace holdfast
