#include "cli/run/group_end.h"

#include <algorithm>
#include <csignal>

#include "cli/run/process_group.h"
#include "cli/run/wind_down.h"

namespace holdfast::cli {

void GroupEnd::begin(EndCause cause, TimePoint kill_at) {
  const std::int64_t wanted = kill_at.time_since_epoch().count();
  std::int64_t planned = shared_.kill_at_ns.load();
  while (wanted < planned && !shared_.kill_at_ns.compare_exchange_weak(planned, wanted)) {
  }
  const bool first = shared_.causes.fetch_or(static_cast<std::uint32_t>(cause)) == 0;
  const pid_t group = shared_.group.load();
  if (first && group != 0) terminate_group(group);
}

void GroupEnd::enforce(TimePoint now, Duration grace) {
  const WindDown plan = plan_wind_down(shared_.deadline(), shared_.ttl(), grace);
  if (now >= plan.term_at) begin(EndCause::jeopardy, plan.kill_at);
  const pid_t group = shared_.group.load();
  if (kill_due(now) && group != 0) kill(-group, SIGKILL);
}

bool GroupEnd::caused_by(EndCause cause) const {
  return (shared_.causes.load() & static_cast<std::uint32_t>(cause)) != 0;
}

TimePoint GroupEnd::next_action(Duration grace) const {
  const WindDown plan = plan_wind_down(shared_.deadline(), shared_.ttl(), grace);
  return std::min(caused_by(EndCause::jeopardy) ? plan.kill_at : plan.term_at, kill_at());
}

}  // namespace holdfast::cli
