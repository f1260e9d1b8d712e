// The scripts the engine runs at the server, each one atomic step.
//
// A lock is the plain string `<owner>:<token>:<note>` with a TTL at exactly `<prefix><name>`, so
// that Holdfast and every client that takes locks by SET NX PX exclude each other. One integer per
// prefix is the highest token given; no key outlives a lock for the sake of its name.
//
// Those who wait stand in a list of owners, with what is known of each in a hash beside it:
// `<until> <ttl> <stamp> <channel> <note>`. Who does not refresh its entry in time is not there any
// more, and is passed over. A lock that is free while somebody waits is given to the first of them
// by whoever comes along, so that nobody overtakes.

#pragma once

#include "base/join.h"
#include "engines/redis/redis_port.h"

namespace holdfast::redis {

namespace lua {

/// A new token: the server's time in microseconds, or one more than the last one where that is
/// higher, so that a server that lost its counter does not go back. Lua prints large numbers
/// inexactly unless told otherwise, hence the format.
inline constexpr std::string_view kMint = R"lua(
local function mint(counter)
  local last = tonumber(redis.call('GET', counter) or '0')
  if not (last and last >= 0) then
    return nil, 'HOLDFAST the token counter is not a number'
  end
  local time = redis.call('TIME')
  local token = time[1] * 1000000 + time[2]
  if token <= last then
    token = last + 1
  end
  if token > 9007199254740991 then
    return nil, 'HOLDFAST the tokens are used up'
  end
  local text = string.format('%.0f', token)
  redis.call('SET', counter, text)
  return text
end
)lua";

inline constexpr std::string_view kPut = R"lua(
local function put(lock, owner, token, note, ttl)
  redis.call('SET', lock, owner .. ':' .. token .. ':' .. note, 'PX', ttl)
end
)lua";

/// Gives a free lock to the first who waits and is still there, and tells it unless it is the one
/// that asks: owner, token, and the stamp of its last request that came before. Its owner and
/// token, or nil when nobody is there. A message that cannot be sent does not undo it.
///
/// Who is first now learns so from its next refresh. It is told at once, by its owner alone, where
/// that may be too late to notice the end of the one before it.
inline constexpr std::string_view kHandOver = R"lua(
local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function first(queue, waiters, now)
  local owner = redis.call('LINDEX', queue, 0)
  while owner do
    local entry = redis.call('HGET', waiters, owner)
    if entry then
      local till, ttl, stamp, channel, note =
        string.match(entry, '^(%d+) (%d+) (%d+) (%S+) (.*)$')
      if till and tonumber(till) >= now then
        return owner, ttl, stamp, channel, note
      end
      redis.call('HDEL', waiters, owner)
    end
    redis.call('LPOP', queue)
    owner = redis.call('LINDEX', queue, 0)
  end
end
local function nudge(queue, waiters, now, longest)
  local owner, ttl, _, channel = first(queue, waiters, now)
  if owner and tonumber(ttl) > longest then
    redis.pcall('PUBLISH', channel, owner)
  end
end
local function hand_over(lock, counter, queue, waiters, now, asking)
  local owner, ttl, stamp, channel, note = first(queue, waiters, now)
  if not owner then
    return nil
  end
  local token, failure = mint(counter)
  if not token then
    return nil, failure
  end
  redis.call('LPOP', queue)
  redis.call('HDEL', waiters, owner)
  put(lock, owner, token, note, ttl)
  if owner ~= asking then
    redis.pcall('PUBLISH', channel, owner .. ' ' .. token .. ' ' .. stamp)
  end
  nudge(queue, waiters, now, ttl * 3)
  return owner, token
end
)lua";

/// The owner that holds the lock asks for it again.
inline constexpr std::string_view kAgain = R"lua(
local function again(lock, counter, owner, held, ttl)
  redis.call('PEXPIRE', lock, ttl)
  return string.match(held, '^%d+', #owner + 2)
end
)lua";

/// One who asks for a lock and perhaps waits for it: an empty channel waits not.
inline constexpr std::string_view kAsk = R"lua(
local function stand(queue, waiters, owner, entry, ttl)
  if redis.call('EXISTS', queue) == 0 then
    redis.call('DEL', waiters)
  end
  if redis.call('HSET', waiters, owner, entry) == 1 then
    redis.call('RPUSH', queue, owner)
  end
  if math.min(redis.call('PTTL', waiters), redis.call('PTTL', queue)) < ttl * 2 then
    redis.call('PEXPIRE', waiters, ttl * 3)
    redis.call('PEXPIRE', queue, ttl * 3)
  end
end
local function ask(lock, counter, queue, waiters, owner, ttl, note, stamp, channel)
  local mine = owner .. ':'
  local held = redis.call('GET', lock)
  if held and string.sub(held, 1, #mine) == mine then
    return {1, again(lock, counter, owner, held, ttl)}
  end
  local now = clock()
  if channel ~= '' then
    local till = string.format('%.0f', now + ttl)
    local entry = till .. ' ' .. ttl .. ' ' .. stamp .. ' ' .. channel .. ' ' .. note
    stand(queue, waiters, owner, entry, tonumber(ttl))
  end
  if not held then
    local heir, token = hand_over(lock, counter, queue, waiters, now, owner)
    local failure = not heir and token
    if not heir and not failure then
      token, failure = mint(counter)
      heir = owner
      if token then
        put(lock, owner, token, note, ttl)
      end
    end
    if failure then
      return redis.error_reply(failure)
    end
    if heir == owner then
      return {1, token}
    end
    held = redis.call('GET', lock)
  end
  local head = 0
  if channel ~= '' and first(queue, waiters, now) == owner then
    head = 1
  end
  return {0, held, redis.call('PTTL', lock), head}
end
)lua";

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
return ask(KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5])
)lua";

inline constexpr std::string_view kRefreshAll = R"lua(
local answers = {}
for i = 1, (#KEYS - 1) / 3 do
  local done, answer = pcall(ask, KEYS[3 * i - 1], KEYS[1], KEYS[3 * i], KEYS[3 * i + 1],
                             ARGV[3 * i], ARGV[3 * i + 1], ARGV[3 * i + 2], ARGV[2], ARGV[1])
  answers[i] = done and answer or {2}
end
return answers
)lua";

inline constexpr std::string_view kReleaseAtOnce = R"lua(
local mine = ARGV[1] .. ':'
local held = redis.call('GET', KEYS[1])
local owned = held and string.sub(held, 1, #mine) == mine
if owned and redis.call('EXISTS', KEYS[3]) == 0 then
  return redis.call('DEL', KEYS[1])
end
)lua";

inline constexpr std::string_view kReleaseToNext = R"lua(
if owned then
  local done, heir = pcall(hand_over, KEYS[1], KEYS[2], KEYS[3], KEYS[4], clock())
  if not (done and heir) then
    redis.call('DEL', KEYS[1])
  end
  return 1
end
if redis.call('HDEL', KEYS[4], ARGV[1]) == 1 then
  local was_first = redis.call('LINDEX', KEYS[3], 0) == ARGV[1]
  redis.call('LREM', KEYS[3], 1, ARGV[1])
  if was_first then
    nudge(KEYS[3], KEYS[4], clock(), 0)
  end
end
return 0
)lua";

}  // namespace lua

/// KEYS lock, counter, queue, waiters; ARGV owner, TTL in milliseconds, note, stamp, channel.
/// {1, token} granted, and granted again with the same token to the same owner, whose TTL begins
/// anew; {0, value, remaining milliseconds, first} when somebody else holds the lock. With a
/// channel, the owner waits then; `first` is 1 when nobody is before it.
inline constexpr Script kAcquireScript{"acquire",
                                       Joined<lua::kMint,
                                              lua::kPut,
                                              lua::kAcquireAtOnce,
                                              lua::kHandOver,
                                              lua::kAgain,
                                              lua::kAsk,
                                              lua::kAcquireAsking>::value};

/// KEYS counter, then lock, queue and waiters of each; ARGV channel, stamp, then owner, TTL and
/// note of each. For each what acquire answers, and {2} where the keys hold something foreign.
inline constexpr Script kRefreshScript = {
    "refresh",
    Joined<lua::kMint, lua::kPut, lua::kHandOver, lua::kAgain, lua::kAsk, lua::kRefreshAll>::value};

/// KEYS lock, counter, queue, waiters; ARGV owner. 1 released, and given to the first who waits;
/// 0 the owner does not hold it, and does not wait for it any more.
inline constexpr Script kReleaseScript = {
    "release",
    Joined<lua::kReleaseAtOnce, lua::kMint, lua::kPut, lua::kHandOver, lua::kReleaseToNext>::value};

/// KEYS lock and its note of a forced release, for each; ARGV TTL in milliseconds, then
/// `<owner>:<token>:` of each. One number for each lock: 1 extended, 0 not ours any more, 2 taken
/// away by force. Never creates a key, and one key that is not even a string does not fail the
/// others.
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

/// KEYS lock, queue and waiters of each. For each {value, remaining milliseconds} of the holder,
/// then owner, remaining milliseconds and note of those who wait; {} when neither is there, or
/// something foreign.
inline constexpr Script kInspectScript{"inspect", R"lua(
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local answers = {}
for i = 1, #KEYS / 3 do
  local held = redis.pcall('GET', KEYS[3 * i - 2])
  local owners = redis.pcall('LRANGE', KEYS[3 * i - 1], 0, 999)
  local answer = {}
  if type(held) == 'string' or (not held and owners[1]) then
    answer = {held or '', redis.call('PTTL', KEYS[3 * i - 2])}
    for _, owner in ipairs(owners) do
      local entry = redis.call('HGET', KEYS[3 * i], owner) or ''
      local till, note = string.match(entry, '^(%d+) %d+ %d+ %S+ (.*)$')
      if till and tonumber(till) >= now then
        answer[#answer + 1] = owner
        answer[#answer + 1] = till - now
        answer[#answer + 1] = note
      end
    end
  end
  answers[i] = answer
end
return answers
)lua"};

/// ARGV cursor, pattern. What SCAN answers.
inline constexpr Script kScanScript{"scan", R"lua(
return redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', 1000)
)lua"};

namespace lua {

inline constexpr std::string_view kBreak = R"lua(
local held = redis.call('GET', KEYS[1])
if not held then
  return {}
end
local left = redis.call('PTTL', KEYS[1])
local mark = string.match(held, '^[^:]*:%d+:') or held
redis.pcall('SET', KEYS[5], mark, 'PX', math.max(left, 1000) * 2)
redis.pcall('LPUSH', KEYS[6], ARGV[1])
redis.pcall('LTRIM', KEYS[6], 0, 99)
redis.pcall('PEXPIRE', KEYS[6], 2592000000)
local done, heir = pcall(hand_over, KEYS[1], KEYS[2], KEYS[3], KEYS[4], clock())
if not (done and heir) then
  redis.call('DEL', KEYS[1])
end
return {held, left}
)lua";

}  // namespace lua

/// KEYS lock, counter, queue, waiters, note of the forced release, audit; ARGV line for the audit.
/// {value, remaining milliseconds} of the lease that was ended; {} nobody held it.
inline constexpr Script kBreakScript = {
    "break", Joined<lua::kMint, lua::kPut, lua::kHandOver, lua::kBreak>::value};

/// KEYS lock; ARGV owner, TTL in milliseconds. What the lease has left now, never less than before;
/// 0: it is not the owner's.
inline constexpr Script kProlongScript{"prolong", R"lua(
local mine = ARGV[1] .. ':'
local held = redis.call('GET', KEYS[1])
if not held or string.sub(held, 1, #mine) ~= mine then
  return 0
end
local left = redis.call('PTTL', KEYS[1])
if left >= tonumber(ARGV[2]) then
  return left
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return tonumber(ARGV[2])
)lua"};

}  // namespace holdfast::redis
