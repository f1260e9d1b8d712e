#include "engines/etcd/timeline.h"

#include <algorithm>

namespace holdfast::etcd {

Timeline::Course Timeline::note(const Header& header, Revision before) {
  return note(header, header.revision < before);
}

Timeline::Course Timeline::note(const Header& header, const Moment& before) {
  const auto known = before.members.find(header.member);
  return note(header, known != before.members.end() && header.revision < known->second);
}

Timeline::Course Timeline::note(const Header& header, bool went_back) {
  const bool other = cluster_ != 0 && header.cluster != cluster_;
  cluster_ = header.cluster;
  // What was known is of no use any more, or every later answer would seem to go back, too.
  if (went_back || other) now_ = {};
  now_.highest = std::max(now_.highest, header.revision);
  Revision& member = now_.members[header.member];
  member = std::max(member, header.revision);
  return went_back || other ? Course::back : Course::onward;
}

}  // namespace holdfast::etcd
