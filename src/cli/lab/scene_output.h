// A scene of two processes, as lines for people and as JSON.

#pragma once

#include <boost/json/object.hpp>

#include "cli/console.h"
#include "lab/timeline.h"

namespace holdfast::cli {

/// One line per event, and who believed to hold the lock when.
void print_scene(Console& console, const lab::Scene& scene);

/// initial, final, accepted, refused, events[]{at_ms, process, event, value, token, highest},
/// believed[] and paused[]{process, from_ms, to_ms}.
boost::json::object scene_json(const lab::Scene& scene);

}  // namespace holdfast::cli
