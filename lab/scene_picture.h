// Draws a scene: a lane for each process, the resource between them, time from left to right.

#pragma once

#include <string>

#include "lab/svg.h"
#include "lab/timeline.h"

namespace holdfast::lab {

inline constexpr double kPanelHeight = 332;

struct Panel {
  std::string title{};
  std::string verdict{};
  enum class Tone { good, bad } tone{Tone::good};
  /// What the middle lane is called.
  std::string resource{"counter"};
  Scene scene{};
};

/// Everything stays within (at.x, at.y, width, kPanelHeight).
void draw_panel(Svg& svg, const Panel& panel, Point at, double width);

}  // namespace holdfast::lab
