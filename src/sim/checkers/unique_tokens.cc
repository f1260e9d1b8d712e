#include "sim/checkers/unique_tokens.h"

#include "sim/checkers/lock_order.h"
#include "sim/checkers/sentence.h"

namespace holdfast::sim {

Violations check_unique_tokens(const History& history) {
  Violations found;
  const std::vector<Keyed> grants =
      fenced_grants(history, [](const Acquisition& grant) { return grant.token; });
  for (std::size_t i = 1; i < grants.size(); ++i) {
    if (grants[i].lock != grants[i - 1].lock || grants[i].key != grants[i - 1].key) continue;
    const Acquisition& first = history.acquisitions[grants[i - 1].index];
    const Acquisition& second = history.acquisitions[grants[i].index];
    found.push_back({"T1",
                     sentence("lock ",
                              first.lock,
                              ": ",
                              first.token,
                              " was granted twice, at ",
                              first.returned_at,
                              " to client ",
                              first.client,
                              " and at ",
                              second.returned_at,
                              " to client ",
                              second.client)});
  }
  return found;
}

}  // namespace holdfast::sim
