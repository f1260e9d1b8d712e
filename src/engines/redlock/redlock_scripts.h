// The scripts Redlock runs at each node, each one atomic step.
//
// A lock is the plain string `<owner>:<grant>:<note>` with a TTL at exactly `<prefix><name>`, as on
// one Redis, so that Holdfast and every client that takes locks by SET NX PX on a majority exclude
// each other. `<grant>` is what the node's counter had come to. A counter per name makes nodes
// agree, and may be forgotten: the high-water mark stands in for it, and is never lower.
//
// The key of the high-water mark bears the fingerprint of the set of nodes. Where it is missing the
// node is of another set, or has lost its data: it grants, confirms and extends nothing.

#pragma once

#include "base/join.h"
#include "engines/redis/redis_port.h"

namespace holdfast::redlock {

/// How the answer of a node begins that is not of the set.
inline constexpr std::string_view kNotOfTheSet = "HOLDFAST-NODES";

/// Phase 1. KEYS lock, counter, high water; ARGV owner, TTL in ms, the counter's TTL in ms, note.
/// {1, grant} taken, and taken again with the same grant by the same owner; {0, value, remaining
/// milliseconds} when somebody else holds the lock here.
inline constexpr redis::Script kTakeScript{"redlock-take", R"lua(
local mine = ARGV[1] .. ':'
local held = redis.call('GET', KEYS[1])
if held then
  if string.sub(held, 1, #mine) ~= mine then
    return {0, held, redis.call('PTTL', KEYS[1])}
  end
  return {1, string.match(held, '^%d+', #mine + 1)}
end
local high = redis.call('GET', KEYS[3])
if not high then
  return redis.error_reply('HOLDFAST-NODES this node is not of the set')
end
local last = tonumber(redis.call('GET', KEYS[2]) or high)
high = tonumber(high)
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
redis.call('SET', KEYS[1], mine .. text .. ':' .. ARGV[4], 'NX', 'PX', ARGV[2])
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
if tonumber(string.match(held, '^%d+', #mine + 1)) > token then
  return 0
end
local high = redis.call('GET', KEYS[3])
if not high then
  return redis.error_reply('HOLDFAST-NODES this node is not of the set')
end
local last = tonumber(redis.call('GET', KEYS[2]) or '0')
high = tonumber(high)
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

/// KEYS high water, then lock and its note of a forced release, for each; ARGV TTL in milliseconds,
/// then the owner of each lock. One number for each lock: 1 extended, 0 not ours any more, 2 taken
/// away by force. Never creates a key.
inline constexpr redis::Script kExtendScript{"redlock-extend", R"lua(
if not redis.call('GET', KEYS[1]) then
  return redis.error_reply('HOLDFAST-NODES this node is not of the set')
end
local fates = {}
for i = 1, (#KEYS - 1) / 2 do
  local key, mine = KEYS[2 * i], ARGV[i + 1] .. ':'
  local held = redis.pcall('GET', key)
  if type(held) == 'string' and string.sub(held, 1, #mine) == mine then
    fates[i] = redis.call('PEXPIRE', key, ARGV[1])
  elseif redis.pcall('GET', KEYS[2 * i + 1]) == ARGV[i + 1] then
    fates[i] = 2
  else
    fates[i] = 0
  end
end
return fates
)lua"};

/// Both phases at once, for an owner that holds the lock with this token on a majority of the
/// nodes and not on this one. KEYS lock, counter, high water; ARGV owner, TTL in ms, the counter's
/// TTL in ms, token. 1 it holds it here too; 0 somebody else does.
inline constexpr redis::Script kRepairScript{"redlock-repair", R"lua(
local mine = ARGV[1] .. ':'
local held = redis.call('GET', KEYS[1])
if held then
  return string.sub(held, 1, #mine) == mine and 1 or 0
end
local high = redis.call('GET', KEYS[3])
if not high then
  return redis.error_reply('HOLDFAST-NODES this node is not of the set')
end
local last = tonumber(redis.call('GET', KEYS[2]) or high)
high = tonumber(high)
if not (high and high >= 0 and last and last >= 0) then
  return redis.error_reply('HOLDFAST the token counter is not a number')
end
local grant = math.max(last + 1, tonumber(ARGV[4]))
if grant > 9007199254740991 then
  return redis.error_reply('HOLDFAST the tokens are used up')
end
local text = string.format('%.0f', grant)
redis.call('SET', KEYS[2], text, 'PX', ARGV[3])
if grant > high then
  redis.call('SET', KEYS[3], text)
end
redis.call('SET', KEYS[1], mine .. text .. ':', 'NX', 'PX', ARGV[2])
return 1
)lua"};

/// KEYS lock; ARGV owner, and perhaps a channel on which to tell those who wait. 1 removed, 0 the
/// owner does not hold it.
inline constexpr redis::Script kRemoveScript{"redlock-remove", R"lua(
local mine = ARGV[1] .. ':'
local held = redis.call('GET', KEYS[1])
if held and string.sub(held, 1, #mine) == mine then
  redis.call('DEL', KEYS[1])
  if ARGV[2] then
    redis.pcall('PUBLISH', ARGV[2], '')
  end
  return 1
end
return 0
)lua"};

}  // namespace holdfast::redlock
