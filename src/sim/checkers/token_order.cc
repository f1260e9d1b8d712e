#include "sim/checkers/token_order.h"

#include "sim/checkers/lock_order.h"
#include "sim/checkers/sentence.h"

namespace holdfast::sim {
namespace {

Violation not_higher(const Acquisition& before, const Acquisition& after) {
  return {"T2",
          sentence("lock ",
                   after.lock,
                   ": ",
                   after.token,
                   " was asked for at ",
                   after.called_at,
                   ", after ",
                   before.token,
                   " had been granted at ",
                   before.returned_at,
                   ", and is not higher")};
}

}  // namespace

Violations check_token_order(const History& history) {
  Violations found;
  const std::vector<Acquisition>& all = history.acquisitions;
  const std::vector<Keyed> calls =
      fenced_grants(history, [](const Acquisition& grant) { return grant.called_at; });
  const std::vector<Keyed> returns =
      fenced_grants(history, [](const Acquisition& grant) { return grant.returned_at; });
  // Both have the same locks, so what has returned is always of the lock at hand.
  std::size_t returned = 0;
  const Acquisition* highest = nullptr;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (i > 0 && calls[i].lock != calls[i - 1].lock) {
      returned = i;
      highest = nullptr;
    }
    while (returned < returns.size() && returns[returned].lock == calls[i].lock &&
           returns[returned].key < calls[i].key) {
      const Acquisition& known = all[returns[returned++].index];
      if (highest == nullptr || highest->token < known.token) highest = &known;
    }
    const Acquisition& asked = all[calls[i].index];
    if (highest != nullptr && highest->token >= asked.token) {
      found.push_back(not_higher(*highest, asked));
    }
  }
  return found;
}

}  // namespace holdfast::sim
