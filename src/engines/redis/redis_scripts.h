// The scripts the engine runs at the server, each one atomic step.
//
// An exclusive lock is the plain string `<owner>:<token>:<note>` with a TTL at exactly
// `<prefix><name>`, so that Holdfast and every client that takes locks by SET NX PX exclude each
// other. One integer per prefix is the highest token given; no key outlives a lock for the sake of
// its name.
//
// Shared holders, permits, and exclusive holders with a lock-delay are the fields of a hash beside
// it. The lock's own key has a marker then, `:holdfast:<claim>`, which lasts as long as the longest
// of them and its lock-delay: it keeps everybody else out.
//
// Those who wait stand in a list of owners, with what is known of each in a hash beside it:
// `<until> <ttl> <stamp> <claim> <delay> <channel> <note>`. Who does not refresh its entry in time
// is not there any more, and is passed over. A lock that is free while somebody waits is given to
// the first of them by whoever comes along, so that nobody overtakes.

#pragma once

#include "base/join.h"
#include "engines/redis/redis_lua.h"
#include "engines/redis/redis_port.h"

namespace holdfast::redis {

namespace lua {

inline constexpr std::string_view kAcquireAtOnce = R"lua(
if redis.call('EXISTS', KEYS[1], KEYS[3]) == 0 then
  local token, failure = mint(KEYS[2])
  if not token then
    return redis.error_reply(failure)
  end
  put(KEYS[1], ARGV[1], token, ARGV[3], ARGV[2])
  return {1, token}
end
)lua";

inline constexpr std::string_view kAcquireAsking = R"lua(
return ask(keys, ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], 'x', '0')
)lua";

inline constexpr std::string_view kShareAsking = R"lua(
return ask(keys, ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7])
)lua";

inline constexpr std::string_view kRefreshAll = R"lua(
local answers = {}
for i = 1, (#KEYS - 1) / 4 do
  local k = 4 * i - 2
  local keys = {lock = KEYS[k], counter = KEYS[1], queue = KEYS[k + 1], waiters = KEYS[k + 2],
                holders = KEYS[k + 3]}
  local a = 5 * i - 2
  local done, answer = pcall(ask, keys, ARGV[a], ARGV[a + 1], ARGV[a + 2], ARGV[2], ARGV[1],
                             ARGV[a + 3], ARGV[a + 4])
  answers[i] = done and answer or {2}
end
return answers
)lua";

/// What most releases meet: nobody waits.
inline constexpr std::string_view kReleaseAlone = R"lua(
local mine = ARGV[1] .. ':'
local held = redis.call('GET', KEYS[1])
local owned = held and string.sub(held, 1, #mine) == mine
local token = owned and string.match(held, '^%d+', #mine + 1)
local next = owned and redis.pcall('LINDEX', KEYS[3], 0)
if owned and type(next) ~= 'string' then
  redis.call('DEL', KEYS[1])
  return (ARGV[2] or token) == token and 1 or 0
end
)lua";

/// Or the next one is there and wants an exclusive lock without lock-delay, as the one who releases
/// it had. Others, and what fails, are left to what follows; so is one behind the next that would
/// have to be told that it is first now.
inline constexpr std::string_view kReleaseToOne = R"lua(
local function give_to(owner)
  local till, ttl, stamp, channel, note = string.match(
    redis.call('HGET', KEYS[4], owner) or '', '^(%d+) (%d+) (%d+) x 0 (%S+) (.*)$')
  local time = redis.call('TIME')
  local now = clock(time)
  if not till or tonumber(till) < now then
    return false
  end
  local behind = redis.call('LINDEX', KEYS[3], 1)
  if behind then
    local last, its_ttl = string.match(redis.call('HGET', KEYS[4], behind) or '', '^(%d+) (%d+) ')
    if not last or tonumber(last) < now or tonumber(its_ttl) > ttl * 3 then
      return false
    end
  end
  local its_token = mint(KEYS[2], time)
  if not its_token then
    return false
  end
  redis.call('LPOP', KEYS[3])
  redis.call('HDEL', KEYS[4], owner)
  put(KEYS[1], owner, its_token, note, ttl)
  say(channel, owner .. ' ' .. its_token .. ' ' .. stamp)
  return true
end
if owned then
  local done, given = pcall(give_to, next)
  if done and given then
    return (ARGV[2] or token) == token and 1 or 0
  end
end
)lua";

inline constexpr std::string_view kReleaseToNext = R"lua(
local function leave_others(owner, claim, now)
  local entry = redis.call('HGET', keys.holders, owner)
  local till, delay, its_token = string.match(entry or '', '^(%d+) (%d+) (%d+) ')
  if not till or tonumber(till) < now then
    return nil
  end
  redis.call('HDEL', keys.holders, owner)
  if redis.call('HLEN', keys.holders) <= 1 then
    redis.call('DEL', keys.lock, keys.holders)
  elseif till + delay + 2 >= now + redis.call('PTTL', keys.lock) then
    redis.call('HSET', keys.holders, 'sweep', '0')
    survey(keys, claim, now)
  end
  return its_token
end
local now = clock()
if owned then
  redis.call('DEL', keys.lock)
  pcall(hand_over, keys, now, nil)
else
  local claim = held and claim_of(held)
  token = claim and leave_others(ARGV[1], claim, now)
  if token then
    pcall(hand_over, keys, now, redis.call('GET', keys.lock))
  end
end
if token then
  return (ARGV[2] or token) == token and 1 or 0
end
if redis.call('HDEL', keys.waiters, ARGV[1]) == 1 then
  local was_first = redis.call('LINDEX', keys.queue, 0) == ARGV[1]
  redis.call('LREM', keys.queue, 1, ARGV[1])
  if was_first then
    hand_over(keys, now, held, nil, true)
  end
end
return 0
)lua";

/// One fate for each lease: how the scripts that renew end.
inline constexpr std::string_view kKeepAll = R"lua(
local now, fates = clock(), {}
for i = 1, #KEYS / 3 do
  local k = {lock = KEYS[3 * i - 2], holders = KEYS[3 * i - 1]}
  local mine = ARGV[i + 1]
  local owner, token = string.match(mine, '^([^:]*):(%d+):$')
  local held = redis.pcall('GET', k.lock)
  fates[i] = 0
  if owner and type(held) == 'string' and claim_of(held) then
    local done, stays = pcall(stay, k, owner, ARGV[1], now)
    fates[i] = done and stays == token and 1 or 0
  end
  local broken = fates[i] == 0 and redis.pcall('GET', KEYS[3 * i])
  if type(broken) == 'string' and string.find(broken, mine, 1, true) then
    fates[i] = 2
  end
end
return fates
)lua";

}  // namespace lua

/// KEYS lock, counter, queue, waiters, holders; ARGV owner, TTL in milliseconds, note, stamp,
/// channel. For an exclusive lock without lock-delay.
///
/// {1, token} granted, and granted again with the same token to the same owner, whose TTL begins
/// anew; {0, value, milliseconds, first} when somebody else holds the lock: its value, and when
/// that may change without a word. With a channel, the owner waits then; `first` is 1 when nobody
/// is before it.
inline constexpr Script kAcquireScript{"acquire",
                                       Joined<lua::kMint,
                                              lua::kPut,
                                              lua::kAcquireAtOnce,
                                              lua::kKeys,
                                              lua::kClock,
                                              lua::kTogether,
                                              lua::kSay,
                                              lua::kHandOver,
                                              lua::kAgain,
                                              lua::kAsk,
                                              lua::kAcquireAsking>::value};

/// The same for any claim: ARGV goes on with the claim and the lock-delay. {3} when somebody uses
/// another number of permits.
inline constexpr Script kShareScript{"share",
                                     Joined<lua::kMint,
                                            lua::kPut,
                                            lua::kKeys,
                                            lua::kClock,
                                            lua::kTogether,
                                            lua::kSay,
                                            lua::kHandOver,
                                            lua::kAgain,
                                            lua::kAsk,
                                            lua::kShareAsking>::value};

/// KEYS counter, then lock, queue, waiters and holders of each; ARGV channel, stamp, then owner,
/// TTL, note, claim and lock-delay of each. For each what acquire answers, and {2} where the keys
/// hold something foreign.
inline constexpr Script kRefreshScript{"refresh",
                                       Joined<lua::kMint,
                                              lua::kPut,
                                              lua::kClock,
                                              lua::kTogether,
                                              lua::kSay,
                                              lua::kHandOver,
                                              lua::kAgain,
                                              lua::kAsk,
                                              lua::kRefreshAll>::value};

/// KEYS lock, counter, queue, waiters, holders; ARGV owner, and perhaps the token of its lease. 1
/// released, and given to those who may enter now; 0 the owner did not hold it by that token, and
/// neither holds it nor waits for it any more. A request for the lock that arrived late, when the
/// lease had ended, may have been granted again, with another token.
inline constexpr Script kReleaseScript{"release",
                                       Joined<lua::kReleaseAlone,
                                              lua::kMint,
                                              lua::kPut,
                                              lua::kClock,
                                              lua::kSay,
                                              lua::kReleaseToOne,
                                              lua::kKeys,
                                              lua::kTogether,
                                              lua::kHandOver,
                                              lua::kReleaseToNext>::value};

/// KEYS lock and its note of a forced release, for each; ARGV TTL in milliseconds, then
/// `<owner>:<token>:` of each. For exclusive locks without lock-delay. One number for each lock: 1
/// extended, 0 not ours any more, 2 taken away by force. Never creates a key, and one key that is
/// not even a string does not fail the others.
inline constexpr Script kRenewScript{"renew", R"lua(
local fates = {}
for i = 1, #KEYS / 2 do
  local key, mine = KEYS[2 * i - 1], ARGV[i + 1]
  local held = redis.pcall('GET', key)
  if type(held) == 'string' and string.sub(held, 1, #mine) == mine then
    fates[i] = redis.call('PEXPIRE', key, ARGV[1])
  elseif redis.pcall('GET', KEYS[2 * i]) == mine then
    fates[i] = 2
  else
    fates[i] = 0
  end
end
return fates
)lua"};

/// The same for those that are held together: KEYS lock, holders and the note, for each.
inline constexpr Script kKeepScript{"keep",
                                    Joined<lua::kClock, lua::kTogether, lua::kKeepAll>::value};

}  // namespace holdfast::redis
