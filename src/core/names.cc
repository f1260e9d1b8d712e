#include "holdfast/inspect.h"
#include "holdfast/lease.h"

namespace holdfast {

std::string_view to_string(LeaseState state) noexcept {
  switch (state) {
    case LeaseState::held:
      return "held";
    case LeaseState::jeopardy:
      return "jeopardy";
    case LeaseState::lost:
      return "lost";
    case LeaseState::released:
      return "released";
  }
  return "unknown";
}

std::string_view to_string(LossReason reason) noexcept {
  switch (reason) {
    case LossReason::none:
      return "none";
    case LossReason::expired:
      return "expired";
    case LossReason::broken:
      return "broken";
    case LossReason::gone:
      return "gone";
    case LossReason::abandoned:
      return "abandoned";
    case LossReason::restarted:
      return "restarted";
    case LossReason::failed_over:
      return "failed_over";
    case LossReason::evicted:
      return "evicted";
    case LossReason::flushed:
      return "flushed";
    case LossReason::clock_stepped:
      return "clock_stepped";
    case LossReason::removed:
      return "removed";
    case LossReason::revoked:
      return "revoked";
    case LossReason::rolled_back:
      return "rolled_back";
  }
  return "unknown";
}

std::string_view to_string(ReleaseOutcome outcome) noexcept {
  switch (outcome) {
    case ReleaseOutcome::released:
      return "released";
    case ReleaseOutcome::already_lost:
      return "already_lost";
    case ReleaseOutcome::unknown:
      return "unknown";
  }
  return "unknown";
}

std::string_view to_string(LockChange change) noexcept {
  switch (change) {
    case LockChange::granted:
      return "granted";
    case LockChange::released:
      return "released";
    case LockChange::waiting:
      return "waiting";
  }
  return "unknown";
}

}  // namespace holdfast
