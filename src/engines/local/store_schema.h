// How the store's database is laid out, and how it is opened.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engines/local/sqlite.h"

namespace holdfast::local {

/// How much a commit waits for the disk.
enum class Sync : std::uint8_t {
  /// Until it survives a loss of power.
  full,
  /// It survives the death of every process; a loss of power may undo the last ones.
  normal,
  /// As normal, and a loss of power may damage the file.
  off,
};

/// "full", "normal" or "off".
std::string_view to_string(Sync sync) noexcept;
std::optional<Sync> parse_sync(std::string_view text) noexcept;

struct StoreSettings {
  Sync sync{Sync::full};
  /// How long one operation waits for others.
  Millis timeout{30'000};
};

/// Opens or creates the database, and its tables. corrupt: it is damaged, foreign, or of a newer
/// version; it is left as it is.
Result<std::unique_ptr<Database>, StoreError> open_store_database(const std::string& path,
                                                                  const StoreSettings& settings);

}  // namespace holdfast::local
