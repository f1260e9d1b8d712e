// What the store does to a key, given what is known of it. Pure functions.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/store_backend.h"
#include "core/store_mark.h"

namespace holdfast::core {

/// What is known of a key.
struct StoreSight {
  enum class Depth : std::uint8_t {
    nothing,
    /// The mark, from an earlier request. True as long as the key still has it.
    mark,
    /// Everything, at one moment of this request.
    all,
  };
  enum class Fate : std::uint8_t { stays, passes };

  Depth depth{Depth::nothing};
  /// Of the mark, exactly. Empty: there is none.
  std::string text{};
  std::optional<StoreMark> mark{};
  /// Whether the engine will forget the mark by itself.
  Fate fate{Fate::stays};
  /// What the engine wants to know again. Nobody else reads it.
  std::int64_t aside{0};
  /// How far the engine's key space was: no change that is made after this has a lower number.
  std::uint64_t revision{0};
  /// Only of depth `all`.
  bool has_value{false};
  std::string value{};
  /// The key by which the holder that asks has its lock. Empty: it does not, or not in this
  /// engine. Only of depth `all`.
  std::string contender{};
};

/// One request, however often it is tried.
struct StoreTicket {
  std::string id;
  /// For the record of what administrators do.
  std::string who{};
};

/// How long something is to stay.
enum class Stay : std::uint8_t {
  for_good,
  /// As long as the mark that was there.
  as_before,
  /// Until nobody can repeat an earlier request any more.
  a_while,
  /// For as long as the value is kept, and a while.
  as_value,
};

struct StoreChange {
  enum class Value : std::uint8_t { stays, is_put, goes };

  StoreMark mark;
  Stay stay{Stay::for_good};
  Value value{Value::stays};
  /// How long the value is kept. Empty: for good.
  std::optional<Millis> keep{};
  /// A key that must still be the one created at `token`: by it the holder has its lock. Empty:
  /// nothing to check.
  std::string contender{};
  Token token{0};
  /// What goes on record. Empty: nothing.
  std::string record{};
};

struct StoreStep {
  StoreReply reply{};
  /// Empty: there is nothing to change.
  std::optional<StoreChange> change{};
};

/// Whether a change may be decided by the mark alone. What is not a change never is: whoever is
/// refused is refused by what is there now.
bool decides_by_mark(const StoreRequest& request, const StoreSight& sight);

/// Whether the request needs the value, and not only whether there is one.
bool wants_value(const StoreRequest& request);

/// The holder that asks. Null: it is no fenced operation.
const Holder* holder_of(const StoreRequest& request);

/// What to do. A request that has been done before under the same id is not done again.
Result<StoreStep, StoreError> decide(const StoreRequest& request,
                                     const StoreSight& sight,
                                     const StoreTicket& ticket);

/// The version that a change would make: above everything that this key has ever had, also when
/// its mark was forgotten meanwhile, because no version is above the revision that made it.
Version next_version(const StoreSight& sight);

/// Whether a change that this request made at `version` or later would still be seen.
bool remembers(const StoreSight& sight, Version version);

}  // namespace holdfast::core
