// What an engine without code of its own keeps of a stored key besides its value.
//
// The mark changes with everything that happens to the value: a change that finds the mark as it
// was known changes exactly that state. It begins with the two tokens of the fence in fixed width,
// so that a comparison of marks compares tokens, too.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/fence.h"
#include "core/store_backend.h"

namespace holdfast::core {

/// A request that changed the key.
struct DoneRequest {
  std::string id;
  Version version{0};
  std::uint64_t sequence{0};

  friend bool operator==(const DoneRequest&, const DoneRequest&) = default;
};

struct StoreMark {
  enum class Content : std::uint8_t {
    none,
    value,
    /// As long as it is there: the engine forgets it.
    fleeting_value,
  };

  /// Empty: it belongs to no lock yet.
  std::optional<Fence> fence{};
  /// Of the last change of the value.
  Version version{0};
  Content content{Content::none};
  /// The key by which the exclusive token held its lock when it opened the resource. Empty: none
  /// was found, or the lock is in another engine.
  std::string contender{};
  /// The request that moved it to another lock last.
  std::string rebased{};
  /// Newest first; no more than kRequestsKept.
  std::vector<DoneRequest> done{};

  friend bool operator==(const StoreMark&, const StoreMark&) = default;
};

inline constexpr std::size_t kRequestsKept = 4;

/// As a mark begins: 16 digits.
std::string fixed_width(Token token);

std::string to_text(const StoreMark& mark);

/// Empty: it is not a mark.
std::optional<StoreMark> read_mark(std::string_view text);

}  // namespace holdfast::core
