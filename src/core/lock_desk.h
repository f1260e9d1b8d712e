// LockDesk: what people and scripts ask of an engine about any lock, whoever holds it.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/task.h"
#include "holdfast/client.h"

namespace holdfast::core {

/// Hears of changes of one lock for as long as it lives.
class LockEar {
 public:
  virtual ~LockEar() = default;

  /// How long a lock that was looked at may be taken to be the same unless something is heard.
  virtual Millis trusted_for() const = 0;
};

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

  /// Calls back between tasks, never inside this call: when it begins to hear, and whenever the
  /// lock may have changed. Null: this engine cannot tell.
  virtual std::unique_ptr<LockEar> listen(LockName /*name*/, std::function<void()> /*on_change*/) {
    return nullptr;
  }

  /// Tells those who listen that the lock has changed, where the servers do not.
  virtual void announce(LockName /*name*/) {}
};

}  // namespace holdfast::core
