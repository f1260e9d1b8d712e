// Draws the end of a simulated world: a lane for each host, time from left to right.

#pragma once

#include <string>

#include "lab/sheet.h"
#include "sim/seed_run.h"

namespace holdfast::lab {

/// How many events fit on one picture.
inline constexpr std::size_t kWorldEventsMax = 150;

/// Of a report whose run kept its events. The violations are in the heading, and where the world
/// ends because a promise was broken, that is marked.
Picture draw_world(const sim::SeedReport& report, const std::string& title);

}  // namespace holdfast::lab
