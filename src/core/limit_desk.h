// LimitDesk: where an engine with servers takes permits.

#pragma once

#include <string>

#include "base/task.h"
#include "core/gcra.h"

namespace holdfast::core {

/// Thread safety: as Env; several calls may be under way at once. Every call ends by `answer_by` or
/// soon after. unavailable: nothing was taken. unknown_outcome: there was no answer, and the
/// permits may be spent.
class LimitDesk {
 public:
  virtual ~LimitDesk() = default;

  virtual Task<Result<RateDecision>> reserve(std::string key, Take take, TimePoint answer_by) = 0;
};

}  // namespace holdfast::core
