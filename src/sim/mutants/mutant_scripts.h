// Scripts with a defect each, in place of the ones we ship.

#pragma once

#include "base/join.h"
#include "engines/redis/redis_scripts.h"

namespace holdfast::sim {

/// Removes the lock whoever holds it.
inline constexpr redis::Script kReleaseAnyScript{"release-any", R"lua(
return redis.call('DEL', KEYS[1])
)lua"};

/// Brings back a lock that is gone, and takes one that is somebody else's.
inline constexpr redis::Script kRenewRecreatesScript{"renew-recreates", R"lua(
local fates = {}
for i = 1, #KEYS / 2 do
  redis.call('SET', KEYS[2 * i - 1], ARGV[i + 1], 'PX', ARGV[1])
  fates[i] = 1
end
return fates
)lua"};

/// Says that it extended every lock, and extends none.
inline constexpr redis::Script kRenewOnlySaysScript{"renew-only-says", R"lua(
local fates = {}
for i = 1, #KEYS / 2 do
  fates[i] = 1
end
return fates
)lua"};

/// The scripts of the Redis engine with a part of them replaced.
template <const std::string_view& kMint = redis::lua::kMint,
          const std::string_view& kPut = redis::lua::kPut,
          const std::string_view& kAgain = redis::lua::kAgain,
          const std::string_view& kAsk = redis::lua::kAsk,
          const std::string_view& kAtOnce = redis::lua::kAcquireAtOnce>
struct Changed {
  static constexpr redis::Script acquire{"acquire-changed",
                                         Joined<kMint,
                                                kPut,
                                                kAtOnce,
                                                redis::lua::kKeys,
                                                redis::lua::kClock,
                                                redis::lua::kTogether,
                                                redis::lua::kSay,
                                                redis::lua::kHandOver,
                                                kAgain,
                                                kAsk,
                                                redis::lua::kAcquireAsking>::value};
  static constexpr redis::Script refresh{"refresh-changed",
                                         Joined<kMint,
                                                kPut,
                                                redis::lua::kClock,
                                                redis::lua::kTogether,
                                                redis::lua::kSay,
                                                redis::lua::kHandOver,
                                                kAgain,
                                                kAsk,
                                                redis::lua::kRefreshAll>::value};
  static constexpr redis::Script release{"release-changed",
                                         Joined<redis::lua::kReleaseAlone,
                                                kMint,
                                                kPut,
                                                redis::lua::kClock,
                                                redis::lua::kSay,
                                                redis::lua::kReleaseToOne,
                                                redis::lua::kKeys,
                                                redis::lua::kTogether,
                                                redis::lua::kHandOver,
                                                redis::lua::kReleaseToNext>::value};
};

/// Gives everybody the lock.
inline constexpr std::string_view kAskInVain = R"lua(
local function ask(k, owner, ttl, note)
  local held = redis.call('GET', k.lock)
  if held and string.sub(held, 1, #owner + 1) == owner .. ':' then
    return {1, again(k.lock, k.counter, owner, held, ttl)}
  end
  local token = mint(k.counter)
  put(k.lock, owner, token, note, ttl)
  return {1, token}
end
)lua";

/// Gives nobody the lock.
inline constexpr std::string_view kAskForNothing = R"lua(
local function ask()
  return {0, 'nobody', 60000, 1}
end
)lua";

/// There is no lock that is free.
inline constexpr std::string_view kNeverAtOnce = "";

/// Trusts its clock alone for tokens.
inline constexpr std::string_view kMintFromClock = R"lua(
local function mint(counter)
  local time = redis.call('TIME')
  return string.format('%.0f', time[1] * 1000000 + time[2])
end
)lua";

/// Forgets to count.
inline constexpr std::string_view kMintTheSame = R"lua(
local function mint(counter)
  return '7'
end
)lua";

/// Mints another token for an owner that asks again.
inline constexpr std::string_view kAgainAnew = R"lua(
local function again(lock, counter, owner, held, ttl)
  local token = mint(counter)
  put(lock, owner, token, '', ttl)
  return token
end
)lua";

/// Takes the lock for good.
inline constexpr std::string_view kPutForever = R"lua(
local function put(lock, owner, token, note, ttl)
  redis.call('SET', lock, owner .. ':' .. token .. ':' .. note)
end
)lua";

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
  return {1, string.match(held, '^%d+', #mine + 1)}
end
local text = string.format('%.0f', tonumber(redis.call('GET', KEYS[2]) or '0') + 1)
redis.call('SET', KEYS[2], text, 'PX', ARGV[2])
redis.call('SET', KEYS[1], mine .. text, 'NX', 'PX', ARGV[2])
return {1, text}
)lua"};

}  // namespace holdfast::sim
