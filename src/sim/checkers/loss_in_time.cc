#include "sim/checkers/loss_in_time.h"

#include <algorithm>

namespace holdfast::sim {
namespace {

// When a client that was due to do something at `time` could do it.
TimePoint first_chance(const std::vector<Span>& pauses, TimePoint time) {
  for (const Span& pause : pauses) {
    if (pause.contains(time)) time = pause.end;
  }
  return time;
}

}  // namespace

Violations check_loss_in_time(const History& history, Data data) {
  Violations found;
  for (const GrantRecord& grant : history.grants) {
    const std::string token = std::to_string(grant.token.value());
    if (grant.loss == LossReason::gone && data == Data::kept) {
      found.push_back({"loss_in_time", "the server forgot token " + token});
    }
    if (grant.loss != LossReason::expired) continue;
    const TimePoint expected = first_chance(history.pauses.at(grant.client), grant.held.end);
    if (grant.loss_heard_at != expected) {
      found.push_back({"loss_in_time", "the holder of token " + token + " heard too late"});
    }
  }
  return found;
}

}  // namespace holdfast::sim
