#include "sim/checkers/serial.h"

#include <algorithm>

#include "sim/checkers/lock_order.h"
#include "sim/checkers/sentence.h"

namespace holdfast::sim {
namespace {

Violation no_moment(const Acquisition& grant, TimePoint earliest) {
  return {"L3",
          sentence("lock ",
                   grant.lock,
                   ": ",
                   grant.token,
                   " was granted at ",
                   grant.returned_at,
                   ", but a lower one was not before ",
                   earliest)};
}

}  // namespace

Violations check_serial(const History& history) {
  Violations found;
  const std::vector<Keyed> grants =
      fenced_grants(history, [](const Acquisition& grant) { return grant.token; });
  for_each_lock(grants, [&](std::span<const Keyed> of_lock) {
    TimePoint earliest = TimePoint::min();
    for (const Keyed& item : of_lock) {
      const Acquisition& grant = history.acquisitions[item.index];
      earliest = std::max(earliest, grant.called_at);
      if (earliest > grant.returned_at) found.push_back(no_moment(grant, earliest));
    }
  });
  return found;
}

}  // namespace holdfast::sim
