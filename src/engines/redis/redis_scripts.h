// The scripts the engine runs at the server, each one atomic step.
//
// A lock is the plain string `<owner>:<token>` with a TTL at exactly `<prefix><name>`, so that
// Holdfast and every client that takes locks by SET NX PX exclude each other. One integer per
// prefix is the highest token given; no key outlives a lock for the sake of its name.

#pragma once

#include "engines/redis/redis_port.h"

namespace holdfast::redis {

/// KEYS lock, counter; ARGV owner, TTL in milliseconds.
/// {1, token} granted, and granted again with the same token to the same owner, whose TTL begins
/// anew; {0, value, remaining milliseconds} when somebody else holds the lock.
///
/// The token is the server's time in microseconds, or one more than the last one where that is
/// higher: a server that lost its counter does not go back. Lua prints large numbers inexactly
/// unless told otherwise, hence the format.
inline constexpr Script kAcquireScript{"acquire", R"lua(
local mine = ARGV[1] .. ':'
local held = redis.call('GET', KEYS[1])
if held then
  if string.sub(held, 1, #mine) ~= mine then
    return {0, held, redis.call('PTTL', KEYS[1])}
  end
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return {1, string.sub(held, #mine + 1)}
end
local last = tonumber(redis.call('GET', KEYS[2]) or '0')
if not (last and last >= 0) then
  return redis.error_reply('HOLDFAST the token counter is not a number')
end
local time = redis.call('TIME')
local token = time[1] * 1000000 + time[2]
if token <= last then
  token = last + 1
end
if token > 9007199254740991 then
  return redis.error_reply('HOLDFAST the tokens are used up')
end
local text = string.format('%.0f', token)
redis.call('SET', KEYS[2], text)
redis.call('SET', KEYS[1], mine .. text, 'NX', 'PX', ARGV[2])
return {1, text}
)lua"};

/// KEYS locks; ARGV TTL in milliseconds, then the expected value of each lock.
/// One number for each lock: 1 extended, 0 not ours any more. Never creates a key, and one key that
/// is not even a string does not fail the others.
inline constexpr Script kRenewScript{"renew", R"lua(
local fates = {}
for i, key in ipairs(KEYS) do
  if redis.pcall('GET', key) == ARGV[i + 1] then
    fates[i] = redis.call('PEXPIRE', key, ARGV[1])
  else
    fates[i] = 0
  end
end
return fates
)lua"};

/// KEYS lock; ARGV owner. 1 removed, 0 the owner does not hold it.
inline constexpr Script kReleaseScript{"release", R"lua(
local mine = ARGV[1] .. ':'
local held = redis.call('GET', KEYS[1])
if held and string.sub(held, 1, #mine) == mine then
  return redis.call('DEL', KEYS[1])
end
return 0
)lua"};

}  // namespace holdfast::redis
