// Reading what the scripts answer.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/queued_engine.h"
#include "core/renewer.h"
#include "engines/redis/redis_port.h"
#include "holdfast/client.h"

namespace holdfast::redis {

/// How the value of a lock key begins: `<owner>:<token>:`.
std::string lock_value(const Owner& owner, Token token);

/// Whether the value is that of a lock that several hold together, whoever they are.
bool is_held_together(std::string_view value);

/// The token in the value of a lock. Empty: it is not one of ours.
std::optional<Token> token_of(std::string_view value);

/// Who holds a lock, from its value. A value that is not ours belongs to a foreign client.
Contender holder_of(std::string_view value, Millis ttl);

/// Whether an acquire was answered by "somebody else holds it", without asking who.
bool is_busy(const Reply& reply);

/// The token of a grant; AcquireError busy with the holder; corrupt when the answer makes no sense;
/// otherwise what error_of() says.
Result<Token, AcquireError> read_acquire(const Reply& reply);

/// invalid_argument when another number of permits is in use; corrupt when the answer makes no
/// sense; otherwise what error_of() says.
Result<core::Asked> read_asked(const Reply& reply);

/// What a message says to one who waits: `<owner> <token> <stamp>` that it has the lock, or
/// `<owner>` alone that it is the first now.
struct Call {
  struct HandOver {
    Token token;
    /// When the last request left that the server had seen before.
    TimePoint sent_at;
  };
  Owner owner;
  std::optional<HandOver> hand_over{};
};
std::optional<Call> read_call(std::string_view text);

/// The owners whose leases were ended by force, from a message: `<owner>:<token>:` of each.
std::vector<Owner> read_broken(std::string_view text);

/// A time as requests carry it, for calls to bring back.
std::string stamp_of(TimePoint time);

/// One fate for each of `count` leases.
Result<std::vector<core::Fate>> read_renew(const Reply& reply, std::size_t count);

Result<core::Removal> read_release(const Reply& reply);

/// What a refusal of the server means: corrupt (foreign data under our key), denied, no_space,
/// unavailable (loading, read-only, busy), or internal.
Error error_of(std::string_view message);

}  // namespace holdfast::redis
