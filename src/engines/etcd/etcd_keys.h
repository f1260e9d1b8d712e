// The keys of locks, in the layout of etcd's own clients.
//
// A contender for a lock is the key `<prefix><name>/<lease in hex>-<owner's fingerprint>`: the one
// that was created first holds it. `etcdctl lock` and the Go clients write
// `<prefix><name>/<lease in hex>`. Names are percent-encoded, so that no lock sees the contenders
// of another; behind an empty prefix they stand as they are.
//
// Lock names have no control characters, so that no lock can have one of the other keys.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/ids.h"
#include "engines/etcd/etcd_messages.h"

namespace holdfast::etcd {

/// A contender's key, taken apart.
struct ContenderKey {
  LockName name;
  LeaseId lease{};
  /// Empty: of another program.
  std::string owner_fp{};
};

class Keys {
 public:
  explicit Keys(std::string prefix) : prefix_{std::move(prefix)} {}

  const std::string& prefix() const { return prefix_; }

  std::string contender(const LockName& name, LeaseId lease, std::string_view owner_fp) const;
  /// All contenders for a lock, of other programs, too.
  KeyRange contenders(const LockName& name) const;
  /// The contenders for all locks whose names begin so.
  KeyRange locks(std::string_view name_prefix) const;

  /// That the owner's lease was ended by force, by whom and why.
  std::string broken(const LockName& name, std::string_view owner_fp) const;
  /// That the owner does not want the lock any more: a request for it that is still under way must
  /// not be served.
  std::string given_up(const LockName& name, std::string_view owner_fp) const;

  /// Empty: not a contender's key, but something else below the prefix.
  std::optional<ContenderKey> read(std::string_view key) const;

 private:
  std::string encoded(std::string_view name) const;
  std::string beside(std::string_view what, const LockName& name, std::string_view owner_fp) const;

  std::string prefix_;
};

/// As etcd's clients write a lease into a key.
std::string hex_of(LeaseId lease);

}  // namespace holdfast::etcd
