// What the session keeper asks of an engine: keep these leases alive.

#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "base/task.h"
#include "core/admission.h"
#include "core/session_clock.h"
#include "holdfast/clock.h"
#include "holdfast/result.h"
#include "holdfast/token.h"

namespace holdfast::core {

/// A lease as its engine knows it. All of it stays the same through every renewal.
struct HeldLease {
  LockName name;
  Owner owner;
  Token token;
  Claim claim{};
  Millis lock_delay{0};
};

/// What a renewal found.
enum class Fate : std::uint8_t {
  renewed,
  /// The engine does not know this lease any more. A renewal never brings it back.
  gone,
  /// The same, and why is known, as LossReason has it.
  broken,
  restarted,
  failed_over,
  evicted,
  flushed,
  clock_stepped,
  removed,
  revoked,
  rolled_back,
  /// Too little was answered about this one. The old deadline stands and renewing again is safe.
  unknown,
};

/// Thread safety: as Env; several renewals may be under way at once.
class Renewer {
 public:
  virtual ~Renewer() = default;

  /// Extends every lease to `ttl` from now, in one round trip where the engine allows it; one fate
  /// for each lease, in their order. Ends by `answer_by` or soon after.
  ///
  /// unavailable, unknown_outcome: no answer. The old deadlines stand and renewing again is safe.
  virtual Task<Result<std::vector<Fate>>> renew(std::vector<HeldLease> leases,
                                                Millis ttl,
                                                TimePoint answer_by) = 0;

  /// Of a lease that was just renewed by a call that began at `called_at`.
  virtual Confirmation confirmed(const HeldLease& lease, TimePoint called_at) const {
    static_cast<void>(lease);
    return called_at;
  }
};

}  // namespace holdfast::core
