// Timeline: notices that a cluster was put back to an earlier state.
//
// Every answer says how far its member was, and in which term. A member never goes back in either,
// and what a transaction sees is never older than what anybody was told before it was asked: unless
// the data was restored from a backup, or another cluster answers. A restored member begins its
// terms anew, which shows even when others have written more by then than was known before. Terms
// of different members say nothing: one that is cut off runs ahead of the others.
//
// Decisions only. Thread safety: none; its user serialises the calls.

#pragma once

#include <cstdint>
#include <map>

#include "engines/etcd/etcd_messages.h"

namespace holdfast::etcd {

class Timeline {
 public:
  /// How far the cluster was known to be when a transaction left.
  struct Moment {
    Revision highest{0};
    /// How often a member had been heard of in a later term than before.
    std::uint64_t terms_heard{0};
  };
  /// The same of anything else.
  struct Detail {
    Moment moment{};
    std::map<std::uint64_t, Revision> members{};
  };

  const Moment& now() const { return now_.moment; }
  const Detail& detail() const { return now_; }

  enum class Course : std::uint8_t {
    onward,
    /// This member knows less than was known before. It may only be slow: a transaction tells.
    behind,
    back,
  };

  /// The answer to a transaction that left at `before`.
  Course note(const Header& header, const Moment& before);
  /// The answer to anything else that left at `before`.
  Course note(const Header& header, const Detail& before);

 private:
  struct Term {
    std::uint64_t number{0};
    /// Which of `terms_heard` it was.
    std::uint64_t heard{0};
  };

  bool term_went_back(const Header& header, const Moment& before) const;
  Course take_in(const Header& header, Course course);

  std::uint64_t cluster_{0};
  Detail now_{};
  std::map<std::uint64_t, Term> terms_;
};

}  // namespace holdfast::etcd
