// The operations of the store's commands: one each, on whatever the target is.
//
// Failures are those of Store and FencedFile, and of connecting to the engine.

#pragma once

#include <optional>
#include <string>

#include "cli/store/target.h"
#include "holdfast/store_types.h"

namespace holdfast::cli {

/// What a put or an erase did.
struct Change {
  /// False: there was nothing to erase, or it had been done before.
  bool applied{false};
  bool duplicate{false};
  /// What the key is at; 0: it was erased, or was not there.
  Version version{0};
  /// Empty: not fenced.
  std::optional<Token> token{};
  std::uint64_t sequence{0};
};

/// Registers the holder, and gives the last sequence of its token. Precondition: there is one.
Result<std::uint64_t, StoreError> open_target(const Target& target,
                                              const std::string& engine,
                                              const OpenOptions& options);

/// What is stored. A file's entry has nothing but its content.
Result<std::optional<Entry>, StoreError> read_target(const Target& target,
                                                     const std::string& engine);

/// Puts the value; without one, erases.
Result<Change, StoreError> change_target(const Target& target,
                                         const std::string& engine,
                                         std::optional<std::string> value);

}  // namespace holdfast::cli
