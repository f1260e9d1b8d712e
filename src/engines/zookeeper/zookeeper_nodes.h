// The nodes of locks, in the layouts of ZooKeeper's usual clients.
//
// A lock is the node `<prefix>/<name>`, percent-encoded, so that no lock sees the contenders of
// another; without a prefix names stand as they are, and may be paths. Each contender is an
// ephemeral sequential child. What is kept beside the locks begins with a `%` that no encoded name
// has.
//
// Decisions only: no clock and no I/O.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "core/admission.h"
#include "holdfast/result.h"

namespace holdfast::zookeeper {

/// How contenders are named, and so with whom they exclude each other.
enum class Layout : std::uint8_t {
  /// Curator's InterProcessMutex, which respects every one of our contenders.
  curator,
  /// Curator's InterProcessReadWriteLock.
  curator_rw,
  /// kazoo's Lock, WriteLock and ReadLock.
  kazoo,
};

/// "curator", "curator-rw" or "kazoo".
std::string_view to_string(Layout layout) noexcept;
std::optional<Layout> parse_layout(std::string_view text) noexcept;

/// A contender's name, taken apart.
struct ContenderName {
  /// 32 hexadecimal digits that no other contender has. Empty: written by a program that has none.
  std::string id{};
  core::Claim claim{};
  /// Wraps: only to be compared by precedes().
  std::int32_t sequence{0};
};

/// The number that the server appended. Numbers of one lock are less than 2^31 apart.
constexpr bool precedes(std::int32_t one, std::int32_t other) {
  const auto distance = static_cast<std::uint32_t>(one) - static_cast<std::uint32_t>(other);
  return static_cast<std::int32_t>(distance) < 0;
}

/// What begins the name of a contender; the server appends a number.
std::string contender_prefix(Layout layout, const core::Claim& claim, std::string_view id);

/// In any of the layouts, ours or not. Empty: no contender.
std::optional<ContenderName> read_contender(std::string_view child);

/// A contender among the children of a lock.
struct Child {
  std::string name;
  ContenderName contender;
};

/// The contenders among the children, the first come first.
std::vector<Child> in_order(const std::vector<std::string>& children);

/// Whether in_order() is the order of their creation. At the last number servers stop counting, or
/// begin anew, or both: from there on only the change that created a node tells.
bool numbers_tell(const std::vector<Child>& ordered);

/// The first 16 digits are the owner's fingerprint, the others tell its attempts apart.
std::string contender_id(std::string_view owner_fp, std::uint64_t draw);
/// Empty: not one of contender_id().
std::string owner_fp_of(std::string_view id);

class Nodes {
 public:
  /// `prefix`: with or without slashes around it.
  explicit Nodes(std::string_view prefix);

  /// As a path; empty for none.
  const std::string& prefix() const { return prefix_; }

  /// invalid_argument: it is no valid path, which only happens without a prefix.
  Result<std::string> lock(const LockName& name) const;

  /// Of a child of the prefix. Empty: it is no lock.
  std::optional<LockName> read(std::string_view child) const;

  /// What is kept beside the locks, as `what` says.
  std::string beside(std::string_view what) const;

 private:
  std::string prefix_;
};

/// Whether ZooKeeper takes it as the name of a node.
bool is_component(std::string_view text);

/// The name as one component of a path.
std::string encoded_component(std::string_view name);

/// Of a path but the root.
std::string parent_of(std::string_view path);

}  // namespace holdfast::zookeeper
