#include "lab/world_layout.h"

#include <algorithm>

namespace holdfast::lab {
namespace {

constexpr double kLaneHeight = 62;
constexpr double kHostNames = 112;
constexpr double kRightMargin = 28;

std::vector<Duration> world_moments(const WorldScene& scene) {
  std::vector<Duration> moments;
  for (const WorldEvent& event : scene.events) {
    const Duration at = event.when.time_since_epoch();
    if (moments.empty() || at > moments.back()) moments.push_back(at);
  }
  moments.push_back(scene.after);
  return moments;
}

int rank_of(const sim::HostName& host) {
  if (host.name == "resource") return 0;
  return host.name.starts_with("client") ? 1 : 2;
}

}  // namespace

double WorldLayout::height_of(const std::vector<sim::HostName>& hosts) {
  return kLaneHeight * static_cast<double>(hosts.size()) + 68;
}

WorldLayout::WorldLayout(const WorldScene& scene,
                         const std::vector<sim::HostName>& hosts,
                         const Box& frame)
    : frame_{frame},
      axis_{world_moments(scene), frame.x + kHostNames, frame.right() - kRightMargin} {
  std::vector<sim::HostName> order = hosts;
  std::ranges::stable_sort(order, {}, rank_of);
  double middle = top() + kLaneHeight / 2;
  for (const sim::HostName& host : order) {
    if (host.host.index >= middles_.size()) middles_.resize(host.host.index + std::size_t{1});
    middles_[host.host.index] = middle;
    middle += kLaneHeight;
  }
}

double WorldLayout::y(sim::HostId host) const {
  return host.index < middles_.size() ? middles_[host.index] : top();
}

Box WorldLayout::bar(const Stretch& when, std::size_t lock, std::size_t locks) const {
  const double all = kLockHeight * static_cast<double>(locks);
  const double from = x(when.from);
  return {from,
          y(when.host) - all / 2 + kLockHeight * static_cast<double>(lock),
          std::max(2.0, x(when.to) - from),
          kLockHeight - 1};
}

Box WorldLayout::lane(const Stretch& when) const {
  const double from = x(when.from);
  return {from, y(when.host) - 20, std::max(2.0, x(when.to) - from), 40};
}

}  // namespace holdfast::lab
