// Where the hosts of a simulated world and its moments stand on the picture.

#pragma once

#include <vector>

#include "lab/svg.h"
#include "lab/time_axis.h"
#include "lab/world_scene.h"
#include "sim/timeline.h"

namespace holdfast::lab {

/// The resource, the clients, the lock servers, from top to bottom: no message crosses the lane of
/// a third kind.
class WorldLayout {
 public:
  static constexpr double kLockHeight = 15;

  WorldLayout(const WorldScene& scene, const std::vector<sim::HostName>& hosts, const Box& frame);

  static double height_of(const std::vector<sim::HostName>& hosts);

  const Box& frame() const { return frame_; }
  const TimeAxis& axis() const { return axis_; }
  double top() const { return frame_.y + 34; }
  double bottom() const { return frame_.bottom() - 34; }
  /// The middle of a host's lane.
  double y(sim::HostId host) const;
  double x(Duration at) const { return axis_.x(at); }
  /// Where a lock's bar is on the lane of a client.
  Box bar(const Stretch& when, std::size_t lock, std::size_t locks) const;
  /// The whole lane for a while.
  Box lane(const Stretch& when) const;

 private:
  Box frame_;
  TimeAxis axis_;
  std::vector<double> middles_;
};

}  // namespace holdfast::lab
