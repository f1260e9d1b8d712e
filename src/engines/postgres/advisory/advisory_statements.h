// The statements of session advisory locks; the functions are in schema/advisory_sql.h.
//
// Keys are bigints, times whole milliseconds. A session holds the server's lock for as long as it
// lasts; asked twice for the same key it would be given it twice, so that it never is.

#pragma once

#include "engines/postgres/postgres_port.h"

namespace holdfast::postgres::advisory {

/// $1 a token that is higher than what is reserved. One row: up to which one is now.
inline constexpr Statement kReserve{"holdfast_advisory_reserve",
                                    "SELECT holdfast.reserve_tokens($1)"};

/// $1 session: a number of its own; $2 TTL; $3 the same in whole seconds, for probes of the
/// connection; $4 how often one that waits looks whether its client is there. One row: timeline and
/// start of the server, the backend's process, nothing, and up to which token is reserved.
///
/// The server ends the session, and frees what it holds, a TTL after the last statement was
/// answered; and not earlier, if the connection dies.
inline constexpr Statement kBegin{
    "holdfast_advisory_begin",
    "SELECT s.timeline, s.started, pg_backend_pid(), "
    "holdfast.advisory_begin($1::bigint, $2::text::bigint), holdfast.reserve_tokens(0), "
    "set_config('statement_timeout', '0', false), "
    "set_config('tcp_user_timeout', $2::text, false), "
    "set_config('tcp_keepalives_idle', $3::text, false), "
    "set_config('tcp_keepalives_interval', $3::text, false), "
    "set_config('tcp_keepalives_count', '9', false), "
    "set_config('client_connection_check_interval', $4::text, false), "
    "set_config('idle_session_timeout', $2::text, false) "
    "FROM holdfast.advisory_server() s"};

/// $1 key. One row: the token, or NULL when somebody has the lock or waits for it. Nothing is
/// logged with it: it counts once it is reserved.
inline constexpr Statement kTryExclusive{
    "holdfast_advisory_try", "SELECT CASE WHEN pg_try_advisory_lock($1) THEN holdfast.mint() END"};
inline constexpr Statement kTryShared{
    "holdfast_advisory_try_shared",
    "SELECT CASE WHEN pg_try_advisory_lock_shared($1) THEN holdfast.mint() END"};

/// $1 key, $2 whether shared, $3 for how long: 0 for ever. One row: the token, or NULL.
inline constexpr Statement kWait{"holdfast_advisory_wait",
                                 "SELECT holdfast.advisory_wait($1, $2, $3)"};

/// $1 key. One row: `t`, or `f` when this session does not hold it.
inline constexpr Statement kUnlockExclusive{"holdfast_advisory_unlock",
                                            "SELECT pg_advisory_unlock($1)"};
inline constexpr Statement kUnlockShared{"holdfast_advisory_unlock_shared",
                                         "SELECT pg_advisory_unlock_shared($1)"};

inline constexpr Statement kBeat{"holdfast_advisory_beat", "SELECT 1"};

/// Arrays $1 keys, $2 names with their prefix, $3 fingerprints of owners, $4 notes, $5 tokens or
/// NULL.
inline constexpr Statement kNote{"holdfast_advisory_note",
                                 "SELECT holdfast.advisory_note($1, $2, $3, $4, $5)"};
/// $1 key, $2 fingerprint.
inline constexpr Statement kForget{"holdfast_advisory_forget",
                                   "SELECT holdfast.advisory_forget($1, $2)"};

/// $1 session. One row: whether it was ended by force; timeline and start of the server.
inline constexpr Statement kFate{"holdfast_advisory_fate",
                                 "SELECT * FROM holdfast.advisory_fate($1)"};

/// $1 process: it stops waiting.
inline constexpr Statement kCancel{"holdfast_advisory_cancel", "SELECT pg_cancel_backend($1)"};

/// $1 key or NULL, $2 how names begin. Columns as Column has them.
inline constexpr Statement kLook{"holdfast_advisory_look",
                                 "SELECT * FROM holdfast.advisory_look($1, $2)"};
enum Column : std::uint8_t {
  kKey,
  kGranted,
  kMode,
  kPid,
  kOurs,
  kSession,
  kName,
  kOwner,
  kNoteText,
  kToken,
  kLeft,
  kApplication,
  kSince,
  kColumns,
};

/// $1 session, $2 whether it is about to be ended by force.
inline constexpr Statement kMark{"holdfast_advisory_mark", "SELECT holdfast.advisory_mark($1, $2)"};
/// $1 process, $2 how long to wait for its end.
inline constexpr Statement kTerminate{"holdfast_advisory_terminate",
                                      "SELECT pg_terminate_backend($1, $2)"};

}  // namespace holdfast::postgres::advisory
