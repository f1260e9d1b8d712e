#include "engines/etcd/timeline.h"

#include <algorithm>

namespace holdfast::etcd {

Timeline::Course Timeline::note(const Header& header, Revision before) {
  return take_in(header, header.revision < before ? Course::back : Course::onward);
}

Timeline::Course Timeline::note(const Header& header, const Moment& before) {
  const auto known = before.members.find(header.member);
  if (known != before.members.end() && header.revision < known->second) {
    return take_in(header, Course::back);
  }
  return take_in(header, header.revision < before.highest ? Course::behind : Course::onward);
}

Timeline::Course Timeline::take_in(const Header& header, Course course) {
  if (cluster_ != 0 && header.cluster != cluster_) course = Course::back;
  cluster_ = header.cluster;
  // What was known is of no use any more, or every later answer would seem to go back, too.
  if (course == Course::back) now_ = {};
  now_.highest = std::max(now_.highest, header.revision);
  Revision& member = now_.members[header.member];
  member = std::max(member, header.revision);
  return course;
}

}  // namespace holdfast::etcd
