// Taking a lock as most clients do: SET NX PX, and no token.
//
// A lock is `<owner>:0`, so that the scripts that renew and release serve these too. Token 0: none.

#pragma once

#include "engines/redis/redis_port.h"

namespace holdfast::sim {

/// KEYS lock, and others that it leaves alone; ARGV owner, TTL in milliseconds.
/// {1, "0"} taken; {0, value, remaining milliseconds} when the lock is taken, whoever has it.
inline constexpr redis::Script kPlainTakeScript{"plain-take", R"lua(
if redis.call('SET', KEYS[1], ARGV[1] .. ':0', 'NX', 'PX', ARGV[2]) then
  return {1, '0'}
end
return {0, redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1])}
)lua"};

}  // namespace holdfast::sim
