// Where the parts of a scene's picture stand, and the parts that concern the resource.

#pragma once

#include "lab/svg.h"
#include "lab/time_axis.h"
#include "lab/timeline.h"

namespace holdfast::lab {

inline constexpr double kBarHeight = 28;

/// To have decided is not seen from outside, and a wait that was none is not shown.
bool is_shown(const Scene& scene, std::size_t place);

struct Layout {
  Layout(const Scene& scene, const Box& frame_in);

  Box frame;
  TimeAxis axis;

  /// The middle of a process's lane.
  double lane(Who who) const { return frame.y + (who == Who::a ? 112 : 258); }
  double top() const { return lane(Who::a) - kBarHeight / 2 - 4; }
  double bottom() const { return lane(Who::b) + kBarHeight / 2 + 4; }
  Box resource() const;
  Box bar(const Span& span) const;
};

/// The values it had, the highest token it has seen, and which updates were lost.
void draw_resource(Svg& svg, const Scene& scene, const Layout& at);

/// Arrows between the processes and the resource, and what happened to the processes.
void draw_operations(Svg& svg, const Scene& scene, const Layout& at);

}  // namespace holdfast::lab
