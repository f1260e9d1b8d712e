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
                                              lua::kHandOver,
                                              lua::kAgain,
                                              lua::kAsk,
                                              lua::kRefreshAll>::value};

/// KEYS lock, counter, queue, waiters, holders; ARGV owner, and perhaps the token of its lease. 1
/// released, and given to those who may enter now; 0 the owner did not hold it by that token, and
/// neither holds it nor waits for it any more. A request for the lock that arrived late, when the
/// lease had ended, may have been granted again, with another token.
inline constexpr Script kReleaseScript{"release",
                                       Joined<lua::kReleaseAtOnce,
                                              lua::kKeys,
                                              lua::kMint,
                                              lua::kPut,
                                              lua::kClock,
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
