// The wall clock, for showing times to people. Nothing is decided by it.

#pragma once

#include <cstdint>
#include <string>

namespace holdfast::cli {

/// Milliseconds since 1970, now.
std::int64_t wall_now_ms();

/// "2026-05-01 12:30:05" in the local time zone.
std::string wall_time(std::int64_t since_epoch_ms);

}  // namespace holdfast::cli
