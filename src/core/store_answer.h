// What a server answers that performs the store's operations in one step each, whatever the form.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "core/store_backend.h"

namespace holdfast::core {

/// What an answer says about earlier attempts of the same request that were not answered.
enum class Earlier : std::uint8_t {
  /// The answer is right for all of them together.
  settled,
  /// One of them may have been done, or may still be, all the same.
  open,
};

struct StoreAnswer {
  StoreResult result;
  Earlier earlier{Earlier::settled};
};

/// A word, what became of the operation, and what that word has with it:
/// `opened` last sequence · `found` last sequence, version, token and sequence of the write, value
/// · `absent` last sequence, version · `applied`, `duplicate`, `unchanged` version, sequence · or
/// the code of a refusal with a sentence: `stale_token` yours, highest · `version_conflict` actual
/// · `wrong_domain`, `invalid_argument`, `not_found`.
struct StoreWords {
  std::string word;
  std::array<std::uint64_t, 4> numbers{};
  /// The value or the sentence.
  std::string text{};
  /// Of a refusal.
  Earlier earlier{Earlier::settled};
};

/// Empty: there is no such word.
std::optional<StoreAnswer> to_answer(const StoreRequest& request, StoreWords words);

/// An answer that is none: corrupt.
StoreAnswer senseless(const StoreRequest& request);

/// With the key.
StoreError about(const StoreRequest& request, Error error);

}  // namespace holdfast::core
