// LockDesk: what people and scripts ask of an engine about any lock, whoever holds it.

#pragma once

#include <string>
#include <vector>

#include "base/ids.h"
#include "base/task.h"
#include "holdfast/client.h"

namespace holdfast::core {

/// Thread safety: as Env; several calls may be under way at once. Every call ends by `answer_by` or
/// soon after, with unavailable or unknown_outcome when there was no answer.
class LockDesk {
 public:
  virtual ~LockDesk() = default;

  /// Contracts as in client.h.
  virtual Task<Result<LockInfo>> inspect(LockName name, TimePoint answer_by) = 0;
  virtual Task<Result<std::vector<LockInfo>>> list(std::string prefix, TimePoint answer_by) = 0;
  virtual Task<Result<BreakReport>> break_lock(LockName name,
                                               std::string why,
                                               TimePoint answer_by) = 0;

  /// Extends a lease by its owner alone, never shortens it. How long it may be relied on, counted
  /// from the call.
  /// lost: it ended, or that owner never had one on that name.
  virtual Task<Result<Duration>> extend(LockName name,
                                        Owner owner,
                                        Millis ttl,
                                        TimePoint answer_by) = 0;
  /// Releases a lease by its owner alone.
  virtual Task<Result<ReleaseOutcome>> release(LockName name, Owner owner, TimePoint answer_by) = 0;
};

}  // namespace holdfast::core
