// Contenders for a lock: what they write into their keys, and where one of them stands.
//
// Decisions only: no clock and no I/O.

#pragma once

#include <string>
#include <vector>

#include "core/admission.h"
#include "engines/etcd/etcd_keys.h"
#include "holdfast/inspect.h"
#include "holdfast/options.h"

namespace holdfast::etcd {

/// What a contender says of itself.
struct Entrant {
  core::Claim claim{};
  LeaseKind kind{LeaseKind::session};
  /// As core/holder_note.h writes it.
  std::string note{};
  /// Not written by us: it wants the lock for itself, and says no more.
  bool foreign{false};
};

std::string to_value(const Entrant& entrant);
/// What cannot be read is foreign.
Entrant read_entrant(std::string_view value);

/// Where a contender stands.
struct Standing {
  core::Admission admission{core::Admission::granted};
  /// must_wait: it cannot hold the lock before `departures` of these keys are gone.
  std::vector<std::string> blockers{};
  std::size_t departures{0};
};

/// `ahead`: the contenders that were created before it, or of these the latest when the claim is
/// exclusive.
Standing stand(const std::vector<KeyValue>& ahead, const core::Claim& claim);

/// Who holds a lock and who waits, as others may see them, without what is left of their leases.
struct Lineup {
  LockInfo info{};
  /// In the order of info.holders.
  std::vector<KeyValue> holders{};
  /// In the order of info.waiters.
  std::vector<KeyValue> waiters{};
};

/// `contenders`: all of them, the oldest first.
Lineup line_up(const LockName& name, const std::vector<KeyValue>& contenders, const Keys& keys);

}  // namespace holdfast::etcd
