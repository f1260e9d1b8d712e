// Engine URLs, such as `local:/var/lib/app?prefix=staging/`.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "holdfast/clock.h"
#include "holdfast/result.h"

namespace holdfast {

/// What a `local:` URL says.
struct EngineUrl {
  /// Absolute; empty for the default directory.
  std::string directory;
  /// Put before every lock name. Empty: names are stored as given.
  std::string prefix;
  /// Per operation. The local engine has no server to wait for and ignores it.
  std::optional<Millis> timeout;
};

/// invalid_argument: the URL is wrong, and the message says where. unsupported: its engine is not
/// in this build. Messages never quote the parts of a URL that may hold credentials.
Result<EngineUrl> parse_engine_url(std::string_view url);

/// `%XX` for everything but letters, digits and `-._~/:`.
std::string percent_encode(std::string_view text);

}  // namespace holdfast
