// The scripts by which nodes join a set, and leave it.

#pragma once

#include "engines/redis/redis_port.h"

namespace holdfast::redlock {

/// KEYS membership. `<fingerprint> <member>`, or an empty text.
inline constexpr redis::Script kLookScript{"redlock-look", R"lua(
return redis.call('GET', KEYS[1]) or ''
)lua"};

/// KEYS high water. The highest grant; an empty text where the node is not of the set.
inline constexpr redis::Script kHighScript{"redlock-high", R"lua(
return redis.call('GET', KEYS[1]) or ''
)lua"};

/// KEYS rejoining; ARGV a nonce. Marks that somebody waits to let this node join: the mark is gone
/// when the node loses its data once more.
inline constexpr redis::Script kMarkScript{"redlock-mark", R"lua(
redis.call('SET', KEYS[1], ARGV[1])
return 1
)lua"};

/// KEYS membership, high water, rejoining; ARGV nonce, `<fingerprint> <member>`, the least that the
/// high water is to be. 1 the node has joined, now or by this very request before; 0 the mark is
/// not ours any more, or the node has joined a set meanwhile.
inline constexpr redis::Script kJoinScript{"redlock-join", R"lua(
local known = redis.call('GET', KEYS[1])
if known then
  return known == ARGV[2] and 1 or 0
end
if redis.call('GET', KEYS[3]) ~= ARGV[1] then
  return 0
end
local high = tonumber(redis.call('GET', KEYS[2]) or '0')
if not (high and high > tonumber(ARGV[3])) then
  redis.call('SET', KEYS[2], ARGV[3])
end
redis.call('SET', KEYS[1], ARGV[2])
redis.call('DEL', KEYS[3])
return 1
)lua"};

/// KEYS membership, high water of the old set, rejoining; ARGV nonce. The node leaves its set, and
/// is marked. The highest grant it had given; an empty text if none.
inline constexpr redis::Script kWithdrawScript{"redlock-withdraw", R"lua(
local high = redis.call('GET', KEYS[2])
redis.call('SET', KEYS[3], ARGV[1])
redis.call('DEL', KEYS[1], KEYS[2])
return high or ''
)lua"};

}  // namespace holdfast::redlock
