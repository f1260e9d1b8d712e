// Many callers at once, each with a lock of its own.

#pragma once

#include <cstddef>

#include "holdfast/client.h"

namespace holdfast::bench {

inline constexpr std::size_t kCallers = 64;
/// How long a rate is measured at a time, and how often.
inline constexpr Duration kWindow = std::chrono::milliseconds{300};
inline constexpr int kWindows = 8;

/// Takes the lock and gives it up.
void pair(Client& client, const std::string& name);

/// How many pairs per second the callers make: threads that block, or coroutines of one thread.
double threads_rate(Client& client);
double coroutines_rate(Client& client);

}  // namespace holdfast::bench
