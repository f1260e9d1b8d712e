// Whether an engine is set up so that its locks are safe.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/finding.h"
#include "holdfast/clock.h"
#include "holdfast/result.h"

namespace holdfast {

struct Diagnosis {
  /// The engine's URL, complete and without credentials.
  std::string engine;
  core::Findings findings;
};

/// Connects and looks, with locks in mind that ask for this TTL; empty: for what is usual.
/// invalid_argument: a TTL that no lock may ask for. Errors as Client::connect(), where nothing
/// could be looked at.
Result<Diagnosis> diagnose(std::string_view url, std::optional<Millis> ttl = std::nullopt);

}  // namespace holdfast
