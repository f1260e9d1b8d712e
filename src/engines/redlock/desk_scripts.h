// The scripts by which Redlock shows who waits, and by which people act on locks from outside.

#pragma once

#include "engines/redis/redis_port.h"

namespace holdfast::redlock {

/// KEYS waiters; ARGV owner, TTL in ms, note. Says that this owner waits, and will have said so
/// again before the TTL is over.
inline constexpr redis::Script kWaitScript{"redlock-wait", R"lua(
local time = redis.call('TIME')
local till = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[2]
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', till) .. ' ' .. ARGV[3])
if redis.call('PTTL', KEYS[1]) < ARGV[2] * 2 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2] * 3)
end
return 1
)lua"};

/// KEYS waiters; ARGV owner. It does not wait any more.
inline constexpr redis::Script kLeaveScript{"redlock-leave", R"lua(
return redis.call('HDEL', KEYS[1], ARGV[1])
)lua"};

/// KEYS lock, counter and waiters of each. For each {value, remaining milliseconds, counter} of the
/// holder, then owner, remaining milliseconds and note of those who wait. An empty value: nobody
/// holds it. Something foreign is as good as nothing.
inline constexpr redis::Script kInspectScript{"redlock-inspect", R"lua(
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local answers = {}
for i = 1, #KEYS / 3 do
  local held = redis.pcall('GET', KEYS[3 * i - 2])
  local counter = redis.pcall('GET', KEYS[3 * i - 1])
  local answer = {'', 0, type(counter) == 'string' and counter or ''}
  if type(held) == 'string' then
    answer[1] = held
    answer[2] = redis.call('PTTL', KEYS[3 * i - 2])
  end
  local waiters = redis.pcall('HGETALL', KEYS[3 * i])
  for j = 1, #waiters, 2 do
    local till, note = string.match(waiters[j + 1], '^(%d+) (.*)$')
    if till and tonumber(till) >= now then
      answer[#answer + 1] = waiters[j]
      answer[#answer + 1] = till - now
      answer[#answer + 1] = note
    end
  end
  answers[i] = answer
end
return answers
)lua"};

/// KEYS lock, note of the forced release, audit; ARGV line for the audit, channel. {value,
/// remaining milliseconds} of the lease that was ended; {} nobody held it.
inline constexpr redis::Script kBreakScript{"redlock-break", R"lua(
local held = redis.call('GET', KEYS[1])
if not held then
  return {}
end
local left = redis.call('PTTL', KEYS[1])
redis.pcall('SET', KEYS[2], string.match(held, '^[^:]*'), 'PX', math.max(left, 1000) * 2)
redis.pcall('LPUSH', KEYS[3], ARGV[1])
redis.pcall('LTRIM', KEYS[3], 0, 99)
redis.pcall('PEXPIRE', KEYS[3], 2592000000)
redis.call('DEL', KEYS[1])
redis.pcall('PUBLISH', ARGV[2], '')
return {held, left}
)lua"};

/// KEYS high water, lock; ARGV owner, TTL in milliseconds. What the lease has left now, never less
/// than before; 0: it is not the owner's.
inline constexpr redis::Script kProlongScript{"redlock-prolong", R"lua(
if not redis.call('GET', KEYS[1]) then
  return redis.error_reply('HOLDFAST-NODES this node is not of the set')
end
local mine = ARGV[1] .. ':'
local held = redis.call('GET', KEYS[2])
if not held or string.sub(held, 1, #mine) ~= mine then
  return 0
end
local left = redis.call('PTTL', KEYS[2])
if left >= tonumber(ARGV[2]) then
  return left
end
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return tonumber(ARGV[2])
)lua"};

/// ARGV channel, what to say there.
inline constexpr redis::Script kAnnounceScript{"redlock-announce", R"lua(
return redis.call('PUBLISH', ARGV[1], ARGV[2])
)lua"};

/// ARGV cursor, pattern. What SCAN answers.
inline constexpr redis::Script kScanScript{"redlock-scan", R"lua(
return redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', 1000)
)lua"};

}  // namespace holdfast::redlock
