// Many processes incrementing one counter, each under a lock: a real one, or one that only looks
// like it.

#pragma once

#include <cstdint>
#include <string>

#include "holdfast/client.h"
#include "lab/message.h"

namespace holdfast::lab {

struct RaceTrack {
  Client& client;
  Store& store;
  /// The name of the lock and of the counter.
  const std::string& subject;
};

/// Increments until `rounds` writes were accepted. Report::value says how many were.
Report race(RaceTrack track, Guard guard, std::int64_t rounds);

}  // namespace holdfast::lab
