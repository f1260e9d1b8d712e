// The parts the scripts are put together from (redis_scripts.h).
//
// They know a lock by a table of its keys: lock, counter, queue, waiters, holders. What is asked
// for is a claim, `x` exclusive, `s` shared, or `p` and the number of permits, and a lock-delay in
// milliseconds. Times are the server's, in milliseconds.

#pragma once

#include <string_view>

namespace holdfast::redis::lua {

/// A new token: the server's time in microseconds, or one more than the last one where that is
/// higher, so that a server that lost its counter does not go back. Who knows the time says it. Lua
/// prints large numbers inexactly unless told otherwise, hence the format.
inline constexpr std::string_view kMint = R"lua(
local function mint(counter, time)
  local last = tonumber(redis.call('GET', counter) or '0')
  if not (last and last >= 0) then
    return nil, 'HOLDFAST the token counter is not a number'
  end
  time = time or redis.call('TIME')
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

inline constexpr std::string_view kClock = R"lua(
local function clock(time)
  time = time or redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
)lua";

/// Tells one who waits. A channel that is heard in its slot alone says so by its name.
inline constexpr std::string_view kSay = R"lua(
local function say(channel, text)
  local sharded = string.find(channel, '\1swake:', 1, true)
  redis.pcall(sharded and 'SPUBLISH' or 'PUBLISH', channel, text)
end
)lua";

/// Those who hold a lock together: a marker in its key, and in a hash `<until> <delay> <token>
/// <note>` of each. The field `sweep` is when the first of them may be over; until then nobody
/// needs to be looked at. A hash without its marker is of the past.
///
/// claim_of: the claim of a marker, nil for any other value. survey: how many hold it, whether it
/// is closed to everybody, and in how many milliseconds that may change without a word; it clears
/// away who is over, and the lock with the last. stay: extends one of them; its token, or nil.
inline constexpr std::string_view kTogether = R"lua(
local function claim_of(held)
  return string.byte(held) == 58 and string.match(held, '^:holdfast:(%w+)$')
end
local function last_until(k, time, now)
  local left = math.max(time - now, 1)
  redis.call('PEXPIRE', k.lock, left)
  redis.call('PEXPIRE', k.holders, left)
end
local function survey(k, claim, now)
  local sweep = tonumber(redis.call('HGET', k.holders, 'sweep') or '0')
  if now < sweep then
    return redis.call('HLEN', k.holders) - 1, false, sweep - now
  end
  local live, delayed, soonest, longest = 0, 0, math.huge, 0
  local all = redis.call('HGETALL', k.holders)
  for i = 1, #all, 2 do
    local till, delay = string.match(all[i + 1], '^(%d+) (%d+) ')
    local last = till and till + delay
    if till and tonumber(till) >= now then
      live = live + 1
      soonest = math.min(soonest, till)
      longest = math.max(longest, last)
    elseif till and last >= now then
      delayed = math.max(delayed, last)
      longest = math.max(longest, last)
    elseif till then
      redis.call('HDEL', k.holders, all[i])
    end
  end
  if #all == 0 then
    return 1, true, redis.call('PTTL', k.lock)
  end
  if longest == 0 then
    redis.call('DEL', k.lock, k.holders)
    return 0, false, 0
  end
  redis.call('HSET', k.holders, 'sweep', string.format('%.0f', delayed > 0 and 0 or soonest))
  last_until(k, longest, now)
  if delayed > 0 then
    return live, true, delayed - now
  end
  return live, false, (claim == 's' and longest or soonest) - now
end
local function stay(k, owner, ttl, now)
  local entry = redis.call('HGET', k.holders, owner)
  local till, delay, token, note = string.match(entry or '', '^(%d+) (%d+) (%d+) (.*)$')
  if not till or tonumber(till) < now then
    return nil
  end
  redis.call('HSET', k.holders, owner,
             string.format('%.0f %s %s %s', now + ttl, delay, token, note))
  if now + ttl < tonumber(till) then
    redis.call('HSET', k.holders, 'sweep', '0')
  end
  if redis.call('PTTL', k.lock) < ttl + delay then
    last_until(k, now + ttl + delay, now)
  end
  return token
end
)lua";

/// Gives a lock to those who wait and are still there, first come first served, as long as the next
/// may enter, and tells each of them alone unless it is the one that asks: owner, token, and the
/// stamp of its last request that came before. A message that cannot be sent does not undo it.
///
/// Who is first then learns so from its next refresh. It is told at once, by its owner alone, where
/// that may be too late to notice the end of the one before it, or when the one before it has left.
///
/// admits: whether a claim may enter, and if not, in how many milliseconds that may change without
/// a word. hand_over: the token of the one that asks, if it has one now; why nobody can have one;
/// and who is first.
inline constexpr std::string_view kHandOver = R"lua(
local function first(queue, waiters, now)
  local owner = redis.call('LINDEX', queue, 0)
  while owner do
    local entry = redis.call('HGET', waiters, owner)
    if entry then
      local till, ttl, stamp, claim, delay, channel, note =
        string.match(entry, '^(%d+) (%d+) (%d+) (%w+) (%d+) (%S+) (.*)$')
      if till and tonumber(till) >= now then
        return owner, ttl, stamp, claim, delay, channel, note
      end
      redis.call('HDEL', waiters, owner)
    end
    redis.call('LPOP', queue)
    owner = redis.call('LINDEX', queue, 0)
  end
end
local function admits(k, held, claim, now)
  if not held then
    return true
  end
  local theirs = claim_of(held)
  if not theirs then
    return false, redis.call('PTTL', k.lock)
  end
  local count, closed, change = survey(k, theirs, now)
  if count == 0 and not closed then
    return true
  end
  local joins = claim == theirs and claim ~= 'x' and not closed
  return joins and (claim == 's' or count < tonumber(string.sub(claim, 2))), change
end
local function enter(k, owner, token, claim, ttl, delay, note, now)
  if claim == 'x' and delay == '0' then
    return put(k.lock, owner, token, note, ttl)
  end
  if redis.call('EXISTS', k.lock) == 0 then
    redis.call('DEL', k.holders)
  end
  local till = now + ttl
  local sweep = math.min(till, redis.call('HGET', k.holders, 'sweep') or till)
  local left = math.max(redis.call('PTTL', k.lock), ttl + delay)
  redis.call('SET', k.lock, ':holdfast:' .. claim, 'PX', ttl)
  if left > tonumber(ttl) then
    redis.call('PEXPIRE', k.lock, left)
  end
  redis.call('HSET', k.holders, 'sweep', string.format('%.0f', sweep))
  redis.call('HSET', k.holders, owner,
             string.format('%.0f %s %s %s', till, delay, token, note))
  redis.call('PEXPIRE', k.holders, left)
end
local function hand_over(k, now, held, asking, news)
  local mine, failure, shortest
  local owner, ttl, stamp, claim, delay, channel, note = first(k.queue, k.waiters, now)
  while owner and admits(k, held, claim, now) do
    local token
    token, failure = mint(k.counter)
    if not token then
      return mine, failure, owner
    end
    redis.call('LPOP', k.queue)
    redis.call('HDEL', k.waiters, owner)
    enter(k, owner, token, claim, ttl, delay, note, now)
    if owner == asking then
      mine = token
    else
      say(channel, owner .. ' ' .. token .. ' ' .. stamp)
    end
    shortest = math.min(ttl, shortest or ttl)
    held = claim == 'x' and claim or redis.call('GET', k.lock)
    owner, ttl, stamp, claim, delay, channel, note = first(k.queue, k.waiters, now)
  end
  if owner and (news or (shortest and tonumber(ttl) > shortest * 3)) then
    say(channel, owner)
  end
  return mine, failure, owner
end
)lua";

/// The owner that holds the lock asks for it again.
inline constexpr std::string_view kAgain = R"lua(
local function again(lock, counter, owner, held, ttl)
  redis.call('PEXPIRE', lock, ttl)
  return string.match(held, '^%d+', #owner + 2)
end
)lua";

/// One who asks for a lock and perhaps waits for it: an empty channel waits not. All who ask for
/// permits and are there name the same number, so that the first of them in line speaks for all.
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
local function clashes(k, theirs, owner, claim, now)
  if theirs and theirs ~= claim and string.sub(theirs, 1, 1) == 'p' then
    return survey(k, theirs, now) > 0
  end
  if redis.call('HGET', k.waiters, owner) then
    return false
  end
  for _, other in ipairs(redis.call('LRANGE', k.queue, 0, -1)) do
    local entry = redis.call('HGET', k.waiters, other) or ''
    local till, permits = string.match(entry, '^(%d+) %d+ %d+ (p%d+) ')
    if till and tonumber(till) >= now then
      return permits ~= claim
    end
  end
end
local function ask(k, owner, ttl, note, stamp, channel, claim, delay)
  local mine = owner .. ':'
  local held = redis.call('GET', k.lock)
  if held and string.sub(held, 1, #mine) == mine then
    return {1, again(k.lock, k.counter, owner, held, ttl)}
  end
  local now = clock()
  local theirs = held and claim_of(held)
  local token = theirs and stay(k, owner, ttl, now)
  if token then
    return {1, token}
  end
  if string.sub(claim, 1, 1) == 'p' then
    if clashes(k, theirs, owner, claim, now) then
      return {3}
    end
    held = redis.call('GET', k.lock)
  end
  if channel ~= '' then
    local till = string.format('%.0f', now + ttl)
    local entry = {till, ttl, stamp, claim, delay, channel, note}
    stand(k.queue, k.waiters, owner, table.concat(entry, ' '), tonumber(ttl))
  end
  local failure, head, admitted, change
  if held and not theirs then
    head = channel ~= '' and first(k.queue, k.waiters, now) == owner
    return {0, held, redis.call('PTTL', k.lock), head and 1 or 0}
  end
  token, failure, head = hand_over(k, now, held, owner)
  held = redis.call('GET', k.lock)
  if not token and not failure then
    admitted, change = admits(k, held, claim, now)
    if admitted and not head and channel == '' then
      token, failure = mint(k.counter)
      if token then
        enter(k, owner, token, claim, ttl, delay, note, now)
      end
    end
  end
  if failure then
    return redis.error_reply(failure)
  end
  if token then
    return {1, token}
  end
  return {0, held or '', change or 0, head == owner and 1 or 0}
end
)lua";

inline constexpr std::string_view kKeys = R"lua(
local keys = {lock = KEYS[1], counter = KEYS[2], queue = KEYS[3], waiters = KEYS[4],
              holders = KEYS[5]}
)lua";

}  // namespace holdfast::redis::lua
