// Engine URLs, such as `local:/var/lib/app?prefix=staging/`.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engines/local/store_schema.h"
#include "holdfast/clock.h"
#include "holdfast/result.h"

namespace holdfast {

/// What a `local:` URL says.
struct EngineUrl {
  /// Absolute; empty for the default directory.
  std::string directory;
  /// Put before every lock name. Empty: names are stored as given.
  std::string prefix;
  /// Per operation: how long the store waits for others. Locks of local: have nobody to wait for.
  std::optional<Millis> timeout;
  /// How much a commit of the store waits for the disk.
  local::Sync sync{local::Sync::full};
};

/// invalid_argument: the URL is wrong, and the message says where. unsupported: its engine is not
/// in this build. Messages never quote the parts of a URL that may hold credentials.
Result<EngineUrl> parse_engine_url(std::string_view url);

}  // namespace holdfast
