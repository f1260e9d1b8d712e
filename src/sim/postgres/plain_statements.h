// How programs without Holdfast usually keep a lock in PostgreSQL: a row with an owner and the time
// it ends, taken over by whoever finds it past that.

#pragma once

#include "engines/postgres/postgres_port.h"

namespace holdfast::sim {

/// $1 name, $2 owner, $3 milliseconds. A row: it has the lock.
inline constexpr postgres::Statement kPlainTakeStatement{
    "plain_take",
    "INSERT INTO locks VALUES ($1, $2, clock_timestamp() + $3 * interval '1 ms') ON CONFLICT (name)"
    " DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at"
    " WHERE locks.expires_at <= clock_timestamp() OR locks.owner = excluded.owner RETURNING name"};

/// $1 name, $2 owner, $3 milliseconds. A row: it still had it.
inline constexpr postgres::Statement kPlainExtendStatement{
    "plain_extend",
    "UPDATE locks SET expires_at = clock_timestamp() + $3 * interval '1 ms'"
    " WHERE name = $1 AND owner = $2 AND expires_at > clock_timestamp() RETURNING name"};

/// $1 name, $2 owner. A row: it had it.
inline constexpr postgres::Statement kPlainReleaseStatement{
    "plain_release", "DELETE FROM locks WHERE name = $1 AND owner = $2 RETURNING name"};

}  // namespace holdfast::sim
