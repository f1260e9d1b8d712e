// The scripts for looking at locks and acting on them from outside.

#pragma once

#include "base/join.h"
#include "engines/redis/redis_lua.h"
#include "engines/redis/redis_port.h"

namespace holdfast::redis {

namespace lua {

/// Those who hold a lock: value as of a plain one and remaining milliseconds of each, their claim,
/// and how much longer it is closed because of one that vanished.
inline constexpr std::string_view kHolders = R"lua(
local function holders_of(lock, holders, held, now)
  local claim = claim_of(held)
  if not claim then
    return {held, redis.call('PTTL', lock)}, 'x', 0
  end
  local found, delayed = {}, 0
  local all = redis.pcall('HGETALL', holders)
  for i = 1, #all, 2 do
    local till, delay, token, note = string.match(all[i + 1], '^(%d+) (%d+) (%d+) (.*)$')
    if till and tonumber(till) >= now then
      found[#found + 1] = all[i] .. ':' .. token .. ':' .. note
      found[#found + 1] = till - now
    elseif till then
      delayed = math.max(delayed, till + delay - now)
    end
  end
  return found, claim, delayed
end
)lua";

inline constexpr std::string_view kInspectAll = R"lua(
local function waiters_of(owners, waiters, now)
  local found = {}
  for _, owner in ipairs(owners) do
    local entry = redis.call('HGET', waiters, owner) or ''
    local till, claim, note = string.match(entry, '^(%d+) %d+ %d+ (%w+) %d+ %S+ (.*)$')
    if till and tonumber(till) >= now then
      found[#found + 1] = owner
      found[#found + 1] = till - now
      found[#found + 1] = claim
      found[#found + 1] = note
    end
  end
  return found
end
local now, answers = clock(), {}
for i = 1, #KEYS / 4 do
  local lock = KEYS[4 * i - 3]
  local held = redis.pcall('GET', lock)
  local owners = redis.pcall('LRANGE', KEYS[4 * i - 2], 0, 999)
  answers[i] = {}
  if type(held) == 'string' then
    local found, claim, delayed = holders_of(lock, KEYS[4 * i], held, now)
    answers[i] = {claim, delayed, found, waiters_of(owners, KEYS[4 * i - 1], now)}
  elseif not held and owners[1] then
    answers[i] = {'x', 0, {}, waiters_of(owners, KEYS[4 * i - 1], now)}
  end
end
return answers
)lua";

inline constexpr std::string_view kBreak = R"lua(
local held = redis.call('GET', keys.lock)
if not held then
  return {}
end
local now = clock()
local found, claim, delayed = holders_of(keys.lock, keys.holders, held, now)
if #found == 0 and delayed == 0 then
  return {}
end
local marks, longest = {}, 1000
for i = 1, #found, 2 do
  marks[#marks + 1] = string.match(found[i], '^[^:]*:%d+:') or found[i]
  longest = math.max(longest, found[i + 1])
end
local mark = table.concat(marks, ' ')
redis.pcall('SET', KEYS[6], mark, 'PX', longest * 2)
redis.pcall('LPUSH', KEYS[7], ARGV[1])
redis.pcall('LTRIM', KEYS[7], 0, 99)
redis.pcall('PEXPIRE', KEYS[7], 2592000000)
redis.pcall('PUBLISH', ARGV[2], mark)
redis.call('DEL', keys.lock, keys.holders)
pcall(hand_over, keys, now, nil)
return {claim, found}
)lua";

inline constexpr std::string_view kProlong = R"lua(
local keys = {lock = KEYS[1], holders = KEYS[2]}
local owner, ttl = ARGV[1], tonumber(ARGV[2])
local mine = owner .. ':'
local held = redis.call('GET', keys.lock)
if not held then
  return 0
end
local left
if string.sub(held, 1, #mine) == mine then
  left = redis.call('PTTL', keys.lock)
  if left < ttl then
    redis.call('PEXPIRE', keys.lock, ttl)
  end
elseif claim_of(held) then
  local now = clock()
  local entry = redis.call('HGET', keys.holders, owner)
  local till = string.match(entry or '', '^(%d+) ')
  if not till or tonumber(till) < now then
    return 0
  end
  left = till - now
  if left < ttl then
    stay(keys, owner, ttl, now)
  end
else
  return 0
end
return math.max(left, ttl)
)lua";

}  // namespace lua

/// KEYS lock; ARGV channel, what to say there.
inline constexpr Script kAnnounceScript{"announce", R"lua(
return redis.call('PUBLISH', ARGV[1], ARGV[2])
)lua"};

/// KEYS lock, queue, waiters and holders of each. For each {claim of the holders, milliseconds that
/// it is still closed because one vanished, holders, those who wait}: value and remaining
/// milliseconds of each holder; owner, remaining milliseconds, claim and note of each that waits.
/// {} when nobody is there, or something foreign.
inline constexpr Script kInspectScript{
    "inspect", Joined<lua::kClock, lua::kTogether, lua::kHolders, lua::kInspectAll>::value};

/// KEYS any key of the server, on a cluster; ARGV cursor, pattern. What SCAN answers.
inline constexpr Script kScanScript{"scan", R"lua(
return redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', 1000)
)lua"};

/// KEYS lock, counter, queue, waiters, holders, note of the forced release, audit; ARGV line for
/// the audit, channel on which holders hear of it. {claim, holders} of the leases that were ended,
/// as inspect has them; {} nobody held it.
inline constexpr Script kBreakScript{"break",
                                     Joined<lua::kKeys,
                                            lua::kMint,
                                            lua::kPut,
                                            lua::kClock,
                                            lua::kTogether,
                                            lua::kSay,
                                            lua::kHandOver,
                                            lua::kHolders,
                                            lua::kBreak>::value};

/// KEYS lock, holders; ARGV owner, TTL in milliseconds. What the lease has left now, never less
/// than before; 0: it is not the owner's.
inline constexpr Script kProlongScript{"prolong",
                                       Joined<lua::kClock, lua::kTogether, lua::kProlong>::value};

}  // namespace holdfast::redis
