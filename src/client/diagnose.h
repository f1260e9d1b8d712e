// Whether an engine is set up so that its locks are safe.

#pragma once

#include <string>
#include <string_view>

#include "core/finding.h"
#include "holdfast/result.h"

namespace holdfast {

struct Diagnosis {
  /// The engine's URL, complete and without credentials.
  std::string engine;
  core::Findings findings;
};

/// Connects and looks. Errors as Client::connect(), where nothing could be looked at.
Result<Diagnosis> diagnose(std::string_view url);

}  // namespace holdfast
