// The script that takes permits at the server, in one atomic step by the server's clock.
//
// A key that is ahead (core/gcra.h) is the string `<seconds> <nanoseconds> <ahead>` at
// `<prefix>\x01limit:<key>`, with when that was true; it expires when it has its whole burst back.

#pragma once

#include "engines/redis/redis_port.h"

namespace holdfast::redis {

/// KEYS the limit's; ARGV tolerance, cost, wait, all in nanoseconds.
/// {1 or 0: granted or not, how far ahead it was}.
///
/// Times are compared as differences, which are exact: the nanoseconds since 1970 are too many for
/// Lua's numbers. A server's clock that has gone back begins anew from where the key is.
inline constexpr Script kTakeScript{"take", R"lua(
local time = redis.call('TIME')
local seconds, nanos = tonumber(time[1]), tonumber(time[2]) * 1000
local tolerance, cost, wait = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local ahead, passed = 0, 0
local held = redis.call('GET', KEYS[1])
if held then
  local s, n, was = string.match(held, '^(%d+) (%d+) (%d+)$')
  if not s then
    return redis.error_reply('HOLDFAST what is stored is not a rate limit')
  end
  passed = (seconds - tonumber(s)) * 1000000000 + (nanos - tonumber(n))
  ahead = math.max(0, tonumber(was) - math.max(0, passed))
end
local granted = ahead + cost - tolerance <= wait
local after = granted and ahead + cost or ahead
if granted or passed < 0 then
  local value = string.format('%.0f %.0f %.0f', seconds, nanos, after)
  redis.call('SET', KEYS[1], value, 'PX', string.format('%.0f', math.floor(after / 1000000) + 1))
end
return {granted and 1 or 0, string.format('%.0f', ahead)}
)lua"};

}  // namespace holdfast::redis
