// Contenders for a lock: what they write into their nodes, and where one of them stands.
//
// Decisions only: no clock and no I/O.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/admission.h"
#include "engines/zookeeper/zookeeper_messages.h"
#include "engines/zookeeper/zookeeper_nodes.h"
#include "holdfast/inspect.h"
#include "holdfast/options.h"

namespace holdfast::zookeeper {

/// What a contender says of itself, beside what its name says.
struct Entrant {
  LeaseKind kind{LeaseKind::session};
  /// Of its session.
  Millis ttl{0};
  /// Of a detached lease: the password of its session, sealed by its owner.
  std::string sealed{};
  /// As core/holder_note.h writes it.
  std::string note{};
  /// Not written by us.
  bool foreign{false};
};

std::string to_data(const Entrant& entrant);
/// What cannot be read is foreign.
Entrant read_entrant(std::string_view data);

/// So that only the owner can read it. The other way round, too. No two texts under one owner.
std::string sealed_by(const Owner& owner, std::string_view text);

/// Where a contender stands.
struct Standing {
  core::Admission admission{core::Admission::granted};
  /// must_wait: it cannot hold the lock before `departures` of these children are gone.
  std::vector<std::string> blockers{};
  std::size_t departures{0};
};

/// `contenders`: as in_order() gives them. Those behind the child named `own` do not count.
Standing stand(const std::vector<Child>& contenders,
               std::string_view own,
               const core::Claim& claim);

/// A contender with all that is known of it.
struct Known {
  Child child;
  Entrant entrant;
  NodeStat stat{};
};

/// Who holds a lock and who waits, as others may see them.
struct Lineup {
  LockInfo info{};
  /// In the order of info.holders.
  std::vector<Known> holders{};
  /// In the order of info.waiters.
  std::vector<Known> waiters{};
};

/// `contenders`: all of them, the first come first.
Lineup line_up(const LockName& name, std::vector<Known> contenders);

}  // namespace holdfast::zookeeper
