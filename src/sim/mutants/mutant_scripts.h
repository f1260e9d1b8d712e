// Scripts with a defect each, in place of the ones we ship.

#pragma once

#include "engines/redis/redis_port.h"

namespace holdfast::sim {

/// Removes the lock whoever holds it.
inline constexpr redis::Script kReleaseAnyScript{"release-any", R"lua(
return redis.call('DEL', KEYS[1])
)lua"};

/// Brings back a lock that is gone, and takes one that is somebody else's.
inline constexpr redis::Script kRenewRecreatesScript{"renew-recreates", R"lua(
local fates = {}
for i, key in ipairs(KEYS) do
  redis.call('SET', key, ARGV[i + 1], 'PX', ARGV[1])
  fates[i] = 1
end
return fates
)lua"};

/// Says that it extended every lock, and extends none.
inline constexpr redis::Script kRenewOnlySaysScript{"renew-only-says", R"lua(
local fates = {}
for i, _ in ipairs(KEYS) do
  fates[i] = 1
end
return fates
)lua"};

/// Gives everybody the lock.
inline constexpr redis::Script kGrantEveryoneScript{"grant-everyone", R"lua(
local time = redis.call('TIME')
local last = tonumber(redis.call('GET', KEYS[2]) or '0')
local token = math.max(time[1] * 1000000 + time[2], last + 1)
local text = string.format('%.0f', token)
redis.call('SET', KEYS[2], text)
redis.call('SET', KEYS[1], ARGV[1] .. ':' .. text, 'PX', ARGV[2])
return {1, text}
)lua"};

/// Gives nobody the lock.
inline constexpr redis::Script kRefuseEveryoneScript{"refuse-everyone", R"lua(
return {0, 'nobody', 1}
)lua"};

/// Trusts its clock alone for tokens.
inline constexpr redis::Script kTokenFromClockScript{"token-from-clock", R"lua(
local mine = ARGV[1] .. ':'
local held = redis.call('GET', KEYS[1])
if held then
  if string.sub(held, 1, #mine) ~= mine then
    return {0, held, redis.call('PTTL', KEYS[1])}
  end
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return {1, string.sub(held, #mine + 1)}
end
local time = redis.call('TIME')
local text = string.format('%.0f', time[1] * 1000000 + time[2])
redis.call('SET', KEYS[1], mine .. text, 'NX', 'PX', ARGV[2])
return {1, text}
)lua"};

/// Forgets to count.
inline constexpr redis::Script kTokenStandsStillScript{"token-stands-still", R"lua(
local mine = ARGV[1] .. ':'
local held = redis.call('GET', KEYS[1])
if held then
  if string.sub(held, 1, #mine) ~= mine then
    return {0, held, redis.call('PTTL', KEYS[1])}
  end
  return {1, string.sub(held, #mine + 1)}
end
redis.call('SET', KEYS[1], mine .. '7', 'NX', 'PX', ARGV[2])
return {1, '7'}
)lua"};

/// Mints another token for an owner that asks again.
inline constexpr redis::Script kTokenAnewScript{"token-anew", R"lua(
local mine = ARGV[1] .. ':'
local held = redis.call('GET', KEYS[1])
if held and string.sub(held, 1, #mine) ~= mine then
  return {0, held, redis.call('PTTL', KEYS[1])}
end
local time = redis.call('TIME')
local last = tonumber(redis.call('GET', KEYS[2]) or '0')
local text = string.format('%.0f', math.max(time[1] * 1000000 + time[2], last + 1))
redis.call('SET', KEYS[2], text)
redis.call('SET', KEYS[1], mine .. text, 'PX', ARGV[2])
return {1, text}
)lua"};

/// Takes the lock for good.
inline constexpr redis::Script kTakeForeverScript{"take-forever", R"lua(
local mine = ARGV[1] .. ':'
local held = redis.call('GET', KEYS[1])
if held then
  if string.sub(held, 1, #mine) ~= mine then
    return {0, held, 0}
  end
  return {1, string.sub(held, #mine + 1)}
end
local time = redis.call('TIME')
local last = tonumber(redis.call('GET', KEYS[2]) or '0')
local text = string.format('%.0f', math.max(time[1] * 1000000 + time[2], last + 1))
redis.call('SET', KEYS[2], text)
redis.call('SET', KEYS[1], mine .. text, 'NX')
return {1, text}
)lua"};

/// Redlock: confirms whatever it is asked to.
inline constexpr redis::Script kConfirmBlindlyScript{"confirm-blindly", R"lua(
return 1
)lua"};

/// Redlock: confirms without asking who holds the lock.
inline constexpr redis::Script kConfirmForAnyoneScript{"confirm-for-anyone", R"lua(
local token = tonumber(ARGV[2])
if tonumber(redis.call('GET', KEYS[2]) or '0') > token then
  return 0
end
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
redis.call('SET', KEYS[3], ARGV[2])
return 1
)lua"};

/// Redlock: confirms a token below the owner's own grant.
inline constexpr redis::Script kConfirmLateGrantScript{"confirm-late-grant", R"lua(
local mine = ARGV[1] .. ':'
local held = redis.call('GET', KEYS[1])
if not held or string.sub(held, 1, #mine) ~= mine then
  return 0
end
local token = tonumber(ARGV[2])
if tonumber(redis.call('GET', KEYS[2]) or '0') < token then
  redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
end
if tonumber(redis.call('GET', KEYS[3]) or '0') < token then
  redis.call('SET', KEYS[3], ARGV[2])
end
return 1
)lua"};

/// Redlock: the counter goes with the lock.
inline constexpr redis::Script kTakeForgetfullyScript{"take-forgetfully", R"lua(
local mine = ARGV[1] .. ':'
local held = redis.call('GET', KEYS[1])
if held then
  if string.sub(held, 1, #mine) ~= mine then
    return {0, held, redis.call('PTTL', KEYS[1])}
  end
  return {1, string.sub(held, #mine + 1)}
end
local text = string.format('%.0f', tonumber(redis.call('GET', KEYS[2]) or '0') + 1)
redis.call('SET', KEYS[2], text, 'PX', ARGV[2])
redis.call('SET', KEYS[1], mine .. text, 'NX', 'PX', ARGV[2])
return {1, text}
)lua"};

}  // namespace holdfast::sim
