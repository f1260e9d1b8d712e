// What stands on the lanes of a world's picture: bars, stripes, arrows, words.

#pragma once

#include "lab/svg.h"
#include "lab/world_layout.h"

namespace holdfast::lab {

void draw_world_marks(Svg& svg,
                      const sim::SeedReport& report,
                      const WorldScene& scene,
                      const WorldLayout& at);

}  // namespace holdfast::lab
