// EtcdKeyspace: the keys of a model etcd, with revisions and the changes that led to them.
//
// Thread safety: none. Copied for a backup.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engines/etcd/etcd_messages.h"
#include "holdfast/result.h"

namespace holdfast::sim {

/// Whether `key` is one of them.
bool within(const etcd::KeyRange& range, std::string_view key);

class EtcdKeyspace {
 public:
  using LeaseExists = std::function<bool(etcd::LeaseId)>;

  /// Of the last change. 1: nothing has ever changed.
  etcd::Revision revision() const { return revision_; }

  /// All its writes have one revision. invalid_argument: too large, without a key, or a key is
  /// written twice. lost: a lease that a Put names does not exist; nothing was written. The header
  /// has the revision only.
  Result<etcd::TxnAnswer> commit(const etcd::Txn& txn, const LeaseExists& exists);

  /// Erases every key of the lease, in one change.
  void erase_all_of(etcd::LeaseId lease);

  /// What happened from `from` on to these keys, oldest first. Precondition: from >= compacted().
  std::vector<etcd::Change> since(etcd::Revision from, const etcd::Watch& watch) const;

  /// Forgets what happened before `revision`, and erasures of that revision too, as the server does
  /// once it has cleaned up. Without effect when that is done already.
  void compact(etcd::Revision revision);
  etcd::Revision compacted() const { return compacted_; }

  /// Null: there is none.
  const etcd::KeyValue* find(std::string_view key) const;

 private:
  bool holds(const etcd::Compare& compare) const;
  etcd::OperationAnswer perform(const etcd::Range& range) const;
  etcd::OperationAnswer perform(const etcd::Put& put);
  etcd::OperationAnswer perform(const etcd::Erase& erase);
  /// Of the change that is being made.
  etcd::Revision next() const { return revision_ + 1; }
  void note(etcd::Change::Kind kind, etcd::KeyValue entry);
  template <class Doomed>
  std::int64_t erase_if(const Doomed& doomed);
  /// What was changed since the last time becomes a revision.
  void conclude();

  etcd::Revision revision_{1};
  etcd::Revision compacted_{0};
  std::map<std::string, etcd::KeyValue, std::less<>> entries_;
  std::deque<etcd::Change> changes_;
};

}  // namespace holdfast::sim
