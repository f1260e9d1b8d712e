// The transactions by which a contender enters, looks where it stands, and leaves.
//
// Decisions only: no clock and no I/O.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engines/etcd/contenders.h"
#include "engines/etcd/etcd_keys.h"

namespace holdfast::etcd {

/// A contender's place at the cluster.
struct Place {
  LockName name;
  std::string owner_fp;
  LeaseId lease{};
  std::string key{};
  /// Its token. Zero: not known to be there.
  Revision created{0};
  /// A request that puts it there went unanswered: it may still be served, at any time while the
  /// lease stands.
  bool unsettled{false};
};

/// Enters, unless it is there already or was given up. When it entered, what is ahead.
Txn enter_txn(const Keys& keys, const Place& place, const Entrant& entrant);

/// Looks at what is ahead, if the place still stands.
Txn look_txn(const Keys& keys, const Place& place, const core::Claim& claim);

/// Leaves. A request that may still be served is kept from putting it there again.
Txn leave_txn(const Keys& keys, const Place& place);

/// What enter_txn() or look_txn() found.
struct Seen {
  /// Zero: the place is not there (any more).
  Revision created{0};
  /// As stand() wants them. Empty: not looked at yet.
  std::optional<std::vector<KeyValue>> ahead{};
};

Seen read_entered(const TxnAnswer& answer, const Place& place);
Seen read_looked(const TxnAnswer& answer, const Place& place);

enum class Left : std::uint8_t { now, before };
Left read_left(const TxnAnswer& answer);

}  // namespace holdfast::etcd
