#include "sim/checkers/presence.h"

#include <algorithm>
#include <span>

namespace holdfast::sim {
namespace {

std::span<const Span> pauses_of(const History& history, std::size_t client) {
  if (client >= history.pauses.size()) return {};
  return history.pauses[client];
}

}  // namespace

TimePoint first_chance(const History& history, std::size_t client, TimePoint time) {
  for (const Span& pause : pauses_of(history, client)) {
    if (pause.contains(time)) time = pause.end;
  }
  return time;
}

Duration paused_within(const History& history, std::size_t client, const Span& span) {
  Duration total{};
  for (const Span& pause : pauses_of(history, client)) {
    if (!pause.overlaps(span)) continue;
    total += std::min(pause.end, span.end) - std::max(pause.begin, span.begin);
  }
  return total;
}

Crashes::Crashes(const History& history) {
  for (const Fault& fault : history.faults) {
    if (fault.kind != FaultClass::crash) continue;
    if (fault.whom >= last_.size()) last_.resize(fault.whom + 1, TimePoint::min());
    last_[fault.whom] = std::max(last_[fault.whom], fault.when.begin);
  }
}

}  // namespace holdfast::sim
