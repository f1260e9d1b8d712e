// The rules of an election: how candidates are written down, who gives way to whom, when work ends.
// Decisions only, no clock and no I/O.
//
// A candidate is a contender for the lock of the election whose label says so:
// `candidate <id>`, and after a comma what it publishes. While a leadership is handed over, the
// lock NAME.next is held by who gives it up, with the label of the candidate that is to have it.

#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "holdfast/clock.h"
#include "holdfast/inspect.h"
#include "holdfast/result.h"

namespace holdfast::core {

struct CandidateLabel {
  std::string id;
  std::string value;

  friend bool operator==(const CandidateLabel&, const CandidateLabel&) = default;
};

std::string to_label(const CandidateLabel& candidate);

/// Empty: the label of something else.
std::optional<CandidateLabel> read_candidate(std::string_view label);

/// The lock that names the next leader. invalid_argument: the name leaves no room for it.
Result<std::string> next_leader_name(std::string_view name);

/// invalid_argument: the id or the value of a candidate.
Result<void> check_candidate(std::string_view id, std::string_view value);

/// Whom the lock of next_leader_name() names. Empty: nobody.
std::optional<std::string> named_next(const LockInfo& next);

/// Whether a candidate of that id waits for the lock.
bool is_waiting(const LockInfo& lock, std::string_view id);

enum class Queue : bool { unordered, first_come_first_served };

/// Whether a candidate that was granted `lock` gives it back, because another is named. Where there
/// is a queue to see, one that does not wait in it is taken to be gone.
bool gives_way(std::string_view own_id,
               const std::optional<std::string>& named,
               const LockInfo& lock,
               Queue queue);

/// When a leader's work is told to stop unless the lease is renewed before.
constexpr TimePoint work_ends_at(TimePoint valid_until, Duration ttl, Duration grace) {
  return valid_until - std::min(grace, ttl / 3);
}

}  // namespace holdfast::core
