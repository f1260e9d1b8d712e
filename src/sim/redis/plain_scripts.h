// Taking a lock as most clients do: SET NX PX, and no token.
//
// A lock is `<owner>:0:`, so that the scripts that renew and release serve these too. Token 0:
// none.

#pragma once

#include "base/join.h"
#include "engines/redis/redis_port.h"

namespace holdfast::sim {

namespace lua {

inline constexpr std::string_view kPlainTake = R"lua(
local function take(lock, owner, ttl)
  if redis.call('SET', lock, owner .. ':0:', 'NX', 'PX', ttl) then
    return {1, '0'}
  end
  return {0, redis.call('GET', lock), redis.call('PTTL', lock), 1}
end
)lua";

inline constexpr std::string_view kPlainTakeOne = R"lua(
return take(KEYS[1], ARGV[1], ARGV[2])
)lua";

inline constexpr std::string_view kPlainTakeAll = R"lua(
local answers = {}
for i = 1, (#KEYS - 1) / 4 do
  answers[i] = take(KEYS[4 * i - 2], ARGV[5 * i - 2], ARGV[5 * i - 1])
end
return answers
)lua";

}  // namespace lua

/// KEYS lock, and others that it leaves alone; ARGV owner, TTL in milliseconds.
/// {1, "0"} taken; {0, value, remaining milliseconds, 1} when the lock is taken, whoever has it.
inline constexpr redis::Script kPlainTakeScript{"plain-take",
                                                Joined<lua::kPlainTake, lua::kPlainTakeOne>::value};

/// The same for many, as redis::kRefreshScript is called.
inline constexpr redis::Script kPlainTakeAllScript{
    "plain-take-all", Joined<lua::kPlainTake, lua::kPlainTakeAll>::value};

/// As redlock::kExtendScript, at a node that belongs to no set.
inline constexpr redis::Script kPlainExtendScript{"plain-extend", R"lua(
local fates = {}
for i = 1, (#KEYS - 1) / 2 do
  local key, mine = KEYS[2 * i], ARGV[i + 1] .. ':'
  local held = redis.call('GET', key)
  local ours = held and string.sub(held, 1, #mine) == mine
  fates[i] = ours and redis.call('PEXPIRE', key, ARGV[1]) or 0
end
return fates
)lua"};

}  // namespace holdfast::sim
