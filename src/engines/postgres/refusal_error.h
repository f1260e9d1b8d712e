// What a refusal of PostgreSQL's means to callers.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "engines/postgres/postgres_port.h"
#include "holdfast/error.h"

namespace holdfast::postgres {

/// denied: no right. unavailable: the same may succeed later, or at another server. no_space: the
/// server has no room. invalid_argument: a text that the database's encoding does not have.
/// unsupported: the transactions are of an isolation in which locks are not safe. internal:
/// anything else. The message has the server's words and SQLSTATE.
inline Error error_of(const Refusal& refusal) {
  const std::string_view state = refusal.sqlstate;
  const std::string message = refusal.message + " (SQLSTATE " + refusal.sqlstate + ')';
  const auto is_of = [&](std::string_view kind) { return state.starts_with(kind); };
  if (state == "42501") {
    return {Errc::denied, message, "run `holdfast install postgres URL --role ROLE` as its owner"};
  }
  if (is_of("28")) return {Errc::denied, message};
  // Read-only, or in recovery.
  if (state == "25006" || state == "55000") {
    return {Errc::unavailable,
            message,
            "connect to the primary: name all servers and add target_session_attrs=read-write"};
  }
  if (state == "3F000" || state == "42883" || state == "42P01") {
    return {Errc::unavailable, message, "run `holdfast install postgres URL`"};
  }
  if (state == "22021" || state == "22P05") {
    return {Errc::invalid_argument, message, "use a database whose encoding is UTF8"};
  }
  if (state == "25000") {
    return {Errc::unsupported,
            message,
            "run `ALTER ROLE ROLE SET default_transaction_isolation = 'read committed'`"};
  }
  // It waited longer than the role's lock_timeout lets it.
  if (state == "55P03") return {Errc::unavailable, message};
  if (state == "53100" || state == "53200") return {Errc::no_space, message};
  for (const std::string_view kind : {"08", "40", "53", "57", "58"}) {
    if (is_of(kind)) return {Errc::unavailable, message};
  }
  return {Errc::internal, message};
}

/// What was answered, where a refusal is an error like any other.
inline Result<Rows> rows_of(Result<Answer> answer) {
  if (!answer) return Unexpected{std::move(answer).error()};
  if (const auto* refusal = std::get_if<Refusal>(&*answer)) return Unexpected{error_of(*refusal)};
  return std::get<Rows>(*std::move(answer));
}

}  // namespace holdfast::postgres
