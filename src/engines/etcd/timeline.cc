#include "engines/etcd/timeline.h"

#include <algorithm>

namespace holdfast::etcd {

// An answer that left its member before the term changed may arrive later than one that left after.
bool Timeline::term_went_back(const Header& header, const Moment& before) const {
  const auto known = terms_.find(header.member);
  if (known == terms_.end() || known->second.heard > before.terms_heard) return false;
  return header.term < known->second.number;
}

Timeline::Course Timeline::note(const Header& header, const Moment& before) {
  const bool back = header.revision < before.highest || term_went_back(header, before);
  return take_in(header, back ? Course::back : Course::onward);
}

Timeline::Course Timeline::note(const Header& header, const Detail& before) {
  const auto known = before.members.find(header.member);
  const bool less = known != before.members.end() && header.revision < known->second;
  if (less || term_went_back(header, before.moment)) return take_in(header, Course::back);
  const bool behind = header.revision < before.moment.highest;
  return take_in(header, behind ? Course::behind : Course::onward);
}

Timeline::Course Timeline::take_in(const Header& header, Course course) {
  if (cluster_ != 0 && header.cluster != cluster_) course = Course::back;
  cluster_ = header.cluster;
  // What was known is of no use any more, or every later answer would seem to go back, too.
  if (course == Course::back) {
    now_ = {.moment = {.terms_heard = now_.moment.terms_heard}};
    terms_.clear();
  }
  now_.moment.highest = std::max(now_.moment.highest, header.revision);
  Revision& member = now_.members[header.member];
  member = std::max(member, header.revision);
  Term& term = terms_[header.member];
  if (header.term > term.number) term = {header.term, ++now_.moment.terms_heard};
  return course;
}

}  // namespace holdfast::etcd
