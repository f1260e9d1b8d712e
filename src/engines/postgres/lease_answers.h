// Reading what the statements of the lease mode answer, and what sessions hear.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/queued_engine.h"
#include "engines/postgres/postgres_port.h"

namespace holdfast::postgres {

/// The number of a session, as statements take it.
inline Value session_text(const std::optional<std::int64_t>& session) {
  return session ? Value{std::to_string(*session)} : std::nullopt;
}

/// corrupt: the answer makes no sense.
Unexpected<Error> senseless(std::string_view statement);

/// A row of acquire or refresh. invalid_argument: another number of permits is in use.
Result<core::Asked> read_asked(const Row& row);

/// How much is left of a lease, by its owner.
struct Confirmed {
  Token token;
  Millis left;
};
/// Without a value: the owner has none.
Result<std::optional<Confirmed>> read_confirm(const Rows& rows);

Result<core::Removal> read_release(const Rows& rows);

/// One fate for each of `count` leases.
Result<std::vector<core::Fate>> read_renew(const Rows& rows, std::size_t count);

/// What a session hears.
struct Notice {
  enum class Kind : std::uint8_t { granted, first, broken };
  Kind kind{Kind::granted};
  Owner owner;
  /// granted: of the lease.
  Token token{0};
  /// first: in how long the lock may come free without a word.
  Millis change{0};
};
/// Empty: it makes no sense.
std::optional<Notice> read_notice(std::string_view text);

/// The lock that rows of inspect are about, or of list without their names.
LockInfo read_lock(std::string name, const std::vector<Row>& rows);

/// A holder, from its owner, token and note.
Contender holder_of(std::string_view owner, std::string_view token, std::string_view note);

}  // namespace holdfast::postgres
