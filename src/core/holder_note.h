// HolderNote: what a contender tells people about itself, as one line of text beside its lock.
//
// The text has letters, digits and -._~%/ only, so that engines may put it among other fields.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "holdfast/inspect.h"

namespace holdfast::core {

struct HolderNote {
  std::string host{};
  std::int64_t pid{0};
  std::string label{};
  std::string trace_id{};
  /// Wall clock, milliseconds since 1970: when it asked.
  std::int64_t since_ms{0};

  friend bool operator==(const HolderNote&, const HolderNote&) = default;
};

/// Of this process, now.
HolderNote make_note(std::string_view label, std::string_view trace_id);

std::string encode_note(const HolderNote& note);

/// Never fails: what cannot be read is left empty, what is too much is ignored.
HolderNote decode_note(std::string_view text);

/// Tells of the contender what its note tells.
void describe(Contender& contender, HolderNote note);

}  // namespace holdfast::core
