// Timeline: notices that a cluster was put back to an earlier state.
//
// Every answer says how far its member was. A member never goes back, and what a transaction sees
// is never older than what anybody was told before it was asked: unless the data was restored from
// a backup, or another cluster answers.
//
// Decisions only. Thread safety: none; its user serialises the calls.

#pragma once

#include <cstdint>
#include <map>

#include "engines/etcd/etcd_messages.h"

namespace holdfast::etcd {

class Timeline {
 public:
  /// How far the cluster was known to be when a request left.
  struct Moment {
    Revision highest{0};
    std::map<std::uint64_t, Revision> members{};
  };

  /// Of a transaction.
  Revision highest() const { return now_.highest; }
  /// Of anything else.
  const Moment& now() const { return now_; }

  enum class Course : std::uint8_t {
    onward,
    /// This member knows less than was known before. It may only be slow: a transaction tells.
    behind,
    back,
  };

  /// The answer to a transaction that left when `before` was the highest.
  Course note(const Header& header, Revision before);
  /// The answer to anything else that left at `before`.
  Course note(const Header& header, const Moment& before);

 private:
  Course take_in(const Header& header, Course course);

  std::uint64_t cluster_{0};
  Moment now_{};
};

}  // namespace holdfast::etcd
