// The scripts Redlock runs at each node, each one atomic step.
//
// A lock is the plain string `<owner>:<grant>` with a TTL at exactly `<prefix><name>`, as on one
// Redis, so that Holdfast and every client that takes locks by SET NX PX on a majority exclude each
// other. `<grant>` is what the node's counter had come to. A counter per name makes nodes agree,
// and may be forgotten: the high-water mark of the prefix stands in for it, and is never lower.

#pragma once

#include "engines/redis/redis_port.h"

namespace holdfast::redlock {

/// Phase 1. KEYS lock, counter, high water; ARGV owner, TTL in ms, the counter's TTL in ms.
/// {1, grant} taken, and taken again with the same grant by the same owner; {0, value, remaining
/// milliseconds} when somebody else holds the lock here.
inline constexpr redis::Script kTakeScript{"redlock-take", R"lua(
local mine = ARGV[1] .. ':'
local held = redis.call('GET', KEYS[1])
if held then
  if string.sub(held, 1, #mine) ~= mine then
    return {0, held, redis.call('PTTL', KEYS[1])}
  end
  return {1, string.sub(held, #mine + 1)}
end
local high = tonumber(redis.call('GET', KEYS[3]) or '0')
local last = tonumber(redis.call('GET', KEYS[2]) or high)
if not (high and high >= 0 and last and last >= 0) then
  return redis.error_reply('HOLDFAST the token counter is not a number')
end
local grant = last + 1
if grant > 9007199254740991 then
  return redis.error_reply('HOLDFAST the tokens are used up')
end
local text = string.format('%.0f', grant)
redis.call('SET', KEYS[2], text, 'PX', ARGV[3])
if grant > high then
  redis.call('SET', KEYS[3], text)
end
redis.call('SET', KEYS[1], mine .. text, 'NX', 'PX', ARGV[2])
return {1, text}
)lua"};

/// Phase 2. KEYS as above; ARGV owner, token, the counter's TTL in ms.
/// 1 the owner holds the lock here since a grant not above the token, and the counter has come to
/// the token; 0 it does not. Both conditions are needed: without the first, two owners confirm one
/// token on nodes that do not meet; without the second, a late grant confirms a token from before.
inline constexpr redis::Script kConfirmScript{"redlock-confirm", R"lua(
local mine = ARGV[1] .. ':'
local held = redis.call('GET', KEYS[1])
if not held or string.sub(held, 1, #mine) ~= mine then
  return 0
end
local token = tonumber(ARGV[2])
if tonumber(string.sub(held, #mine + 1)) > token then
  return 0
end
local last = tonumber(redis.call('GET', KEYS[2]) or '0')
local high = tonumber(redis.call('GET', KEYS[3]) or '0')
if not (high and high >= 0 and last and last >= 0) then
  return redis.error_reply('HOLDFAST the token counter is not a number')
end
if last < token then
  redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
end
if high < token then
  redis.call('SET', KEYS[3], ARGV[2])
end
return 1
)lua"};

/// KEYS locks; ARGV TTL in milliseconds, then the owner of each lock. One number for each lock:
/// 1 extended, 0 not ours any more. Never creates a key.
inline constexpr redis::Script kExtendScript{"redlock-extend", R"lua(
local fates = {}
for i, key in ipairs(KEYS) do
  local mine = ARGV[i + 1] .. ':'
  local held = redis.pcall('GET', key)
  if type(held) == 'string' and string.sub(held, 1, #mine) == mine then
    fates[i] = redis.call('PEXPIRE', key, ARGV[1])
  else
    fates[i] = 0
  end
end
return fates
)lua"};

/// KEYS lock; ARGV owner. 1 removed, 0 the owner does not hold it.
inline constexpr redis::Script kRemoveScript{"redlock-remove", R"lua(
local mine = ARGV[1] .. ':'
local held = redis.call('GET', KEYS[1])
if held and string.sub(held, 1, #mine) == mine then
  return redis.call('DEL', KEYS[1])
end
return 0
)lua"};

}  // namespace holdfast::redlock
