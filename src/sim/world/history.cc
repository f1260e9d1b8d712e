#include "sim/world/history.h"

#include <algorithm>

namespace holdfast::sim {

Span Acquisition::held() const {
  if (!granted()) return {returned_at, returned_at};
  TimePoint end = std::min({release_called_at, deadline, crashed_at});
  if (loss != LossReason::none) end = std::min(end, loss_heard_at);
  return {returned_at, std::max(returned_at, end)};
}

}  // namespace holdfast::sim
