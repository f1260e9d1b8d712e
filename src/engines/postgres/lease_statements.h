// The statements of the lease mode: each one atomic step at the server.
//
// They call functions of the schema (schema/), which keep holders in one table and those who wait,
// in order of arrival, in another. Every function that changes a name takes its turn at that name
// first, draws a token only then, and reads no clock but the database's. A name that nobody holds
// or waits for has no row.
//
// Who waits is there as long as the session it gave is: the session holds the advisory lock of its
// number (kAttendStatement), which the server takes away when it ends. Without a session, it is
// there for one TTL after it asked last. A lock that is free while somebody waits is given to the
// first of them by whoever comes along, so that nobody overtakes; who is given one is told on the
// channel of its session, `holdfast_<session>`, with `granted <owner> <token>`. Who has become the
// first of those who wait, or was it when somebody let go, is told `first <owner> <milliseconds>`:
// how long until the lock may come free without a word.
//
// None of them is to be sent over a session that attends: it would take itself for one that ended.
//
// Arguments and results are text as PostgreSQL writes it. Times are whole milliseconds. A claim is
// `x` exclusive, `s` shared, or `p<N>` a permit of N. Owners are written as Owner::to_string()
// does.

#pragma once

#include "engines/postgres/postgres_port.h"

namespace holdfast::postgres {

/// $1 name, $2 owner, $3 TTL, $4 note, $5 claim, $6 lock-delay, $7 session or NULL, $8 whether it
/// waits (`t`/`f`). One row, of four columns:
/// `granted`, token, NULL, NULL: and granted again with the same token to the same owner, whose TTL
/// begins anew.
/// `busy` or, when it waits now, `queued`; `<token> <owner> <note>` of the holder, or NULL unless
/// there is exactly one; milliseconds until that may change without a word; `t` when nobody who
/// waits is before it. Asked again, it keeps its place and gives its session anew.
/// `permits`, NULL, NULL, NULL: somebody uses another number of permits.
inline constexpr Statement kAcquireStatement{
    "holdfast_acquire", "SELECT * FROM holdfast.acquire($1, $2, $3, $4, $5, $6, $7, $8)"};

/// The same for many: arrays $1 names, $2 owners, $3 TTLs, $4 notes, $5 claims, $6 lock-delays; $7
/// session or NULL. All of them wait. One row for each, in their order, as acquire has it.
inline constexpr Statement kRefreshStatement{
    "holdfast_refresh", "SELECT * FROM holdfast.refresh($1, $2, $3, $4, $5, $6, $7)"};

/// $1 name, $2 owner. Changes nothing. One row: the token of its lease and how many milliseconds it
/// has left; or two NULL when it has none.
inline constexpr Statement kConfirmStatement{"holdfast_confirm",
                                             "SELECT * FROM holdfast.confirm($1, $2)"};

/// $1 name, $2 owner, $3 token or NULL. One row: `t` when it held it (by that token) until now; the
/// lock is given to those who may enter. `f`: it did not, and neither holds it nor waits for it any
/// more.
inline constexpr Statement kReleaseStatement{"holdfast_release",
                                             "SELECT holdfast.release($1, $2, $3)"};

/// Arrays $1 names, $2 owners, $3 tokens; $4 TTL; $5 the session where they hear of their end from
/// now on, or NULL as before. One row for each, in their order: `renewed`,
/// `gone`, `broken` when it was ended by force, or `failed_over` when it is gone and the server's
/// timeline is later than its token's. Never brings a lease back, never shortens one.
inline constexpr Statement kRenewStatement{"holdfast_renew",
                                           "SELECT * FROM holdfast.renew($1, $2, $3, $4, $5)"};

/// $1 session: a number from 1 to 2^62, chosen at random. One row, `t`: this session holds its
/// number and hears its channel from now on. `f`: another does.
inline constexpr Statement kAttendStatement{"holdfast_attend", "SELECT holdfast.attend($1)"};

// For the desk.

/// $1 name: a row for each holder, in order of tokens, and, after them, for each who waits, in
/// their order: `holder` or `waiter`, owner, note, claim, token or NULL, milliseconds left or NULL,
/// TTL. Between them, when one vanished and left the lock closed, `delay` with the milliseconds
/// left and NULL but for a TTL of 0. No row: nobody.
inline constexpr Statement kInspectStatement{"holdfast_inspect",
                                             "SELECT * FROM holdfast.inspect($1)"};

/// $1 prefix: the same for every name that begins with it, after a column with the name; in order
/// of names.
inline constexpr Statement kListStatement{"holdfast_list", "SELECT * FROM holdfast.list($1)"};

/// $1 name, $2 why. Ends every lease on it by force and gives the lock to those who may enter. One
/// row for each lease that ended, in order of tokens: owner, token, note; one of NULL when nobody
/// held it and it was closed because one vanished. They are told `broken <owner>` on the
/// channels of their sessions; a renewal learns of it for a day.
inline constexpr Statement kBreakStatement{"holdfast_break",
                                           "SELECT * FROM holdfast.break($1, $2)"};

/// $1 name, $2 owner, $3 TTL. Never shortens a lease. One row: milliseconds it has left now, or
/// NULL when it had none.
inline constexpr Statement kExtendStatement{"holdfast_extend",
                                            "SELECT holdfast.extend($1, $2, $3)"};

}  // namespace holdfast::postgres
