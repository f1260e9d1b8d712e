// What every part of the schema stands on: its version, what clients call this database, and
// tokens.
//
// A token is the timeline of the server times 2^40, and a number of a sequence. A replica that is
// promoted begins another timeline, so that its tokens rise even when it missed the latest numbers.
// Draw a token only once it is certain whose turn it is.
//
// A crash takes back the numbers of a sequence that are not in the log on disk. Who changes a table
// in the same transaction and answers after its commit needs no more than mint(). Everybody else
// hands out numbers that were reserved: docs/internals/postgres_tokens.md has the argument.

#pragma once

#include <string_view>

namespace holdfast::postgres::sql {

inline constexpr std::string_view kBase = R"sql(
CREATE SCHEMA holdfast;
CREATE TABLE holdfast.version (
  version integer NOT NULL,
  identity uuid NOT NULL DEFAULT gen_random_uuid()
);
CREATE SEQUENCE holdfast.token AS bigint MINVALUE 1 MAXVALUE 1099511627775 CACHE 1 NO CYCLE;
-- On the way of every lock: qualified names cost less than a search_path of its own.
CREATE FUNCTION holdfast.mint() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  drawn pg_catalog.int8 := (('x' OPERATOR(pg_catalog.||) pg_catalog.substr(
      pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 1, 8))::pg_catalog.bit(32)
      ::pg_catalog.int8 OPERATOR(pg_catalog.<<) 40)
    OPERATOR(pg_catalog.+) pg_catalog.nextval('holdfast.token');
BEGIN
  IF drawn OPERATOR(pg_catalog.>) 9007199254740991 THEN
    RAISE 'tokens are used up: the server is in timeline %', drawn OPERATOR(pg_catalog.>>) 40;
  END IF;
  RETURN drawn;
END $$;
)sql";

/// reserved: up to which token one may be handed out before it is on disk. Not logged, so that a
/// crash empties it: the numbers that were handed out then may come again, and the first that
/// reserves throws away as many as there can be.
///
/// reserve_tokens: in a transaction of its own, for those who draw in later ones. Answers up to
/// where they may go, at least to `wanted`, which was drawn before.
///
/// mint_ahead: within the transaction of somebody who may tell the token before it commits. What it
/// reserves is on disk before it answers.
inline constexpr std::string_view kReserve = R"sql(
CREATE UNLOGGED TABLE holdfast.reserved (upto bigint NOT NULL);
CREATE FUNCTION holdfast.reserve() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  last bigint;
BEGIN
  IF NOT EXISTS (SELECT FROM holdfast.reserved) THEN
    PERFORM count(nextval('holdfast.token')) FROM generate_series(1, 65536);
  END IF;
  last := holdfast.mint();
  -- In other isolations a row that somebody else has removed is an error.
  IF current_setting('transaction_isolation') = 'read committed' THEN
    DELETE FROM holdfast.reserved WHERE ctid = ANY (ARRAY(
      SELECT r.ctid FROM holdfast.reserved r WHERE r.upto < last FOR UPDATE SKIP LOCKED));
  END IF;
  INSERT INTO holdfast.reserved VALUES (last + 65536);
  RETURN last + 65536;
END $$;
CREATE FUNCTION holdfast.reserve_tokens(wanted bigint) RETURNS bigint LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  upto bigint := (SELECT max(r.upto) FROM holdfast.reserved r);
BEGIN
  IF upto >= wanted THEN
    RETURN upto;
  END IF;
  PERFORM holdfast.make_durable();
  upto := holdfast.reserve();
  -- A commit waits for the disk only when its own transaction has logged something.
  PERFORM pg_logical_emit_message(false, 'holdfast', '');
  RETURN upto;
END $$;
-- The server brings whole pages of the log to the disk by itself, and soon.
CREATE FUNCTION holdfast.wait_for_log() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  here pg_lsn := pg_current_wal_insert_lsn();
  page integer := current_setting('wal_block_size');
BEGIN
  PERFORM pg_logical_emit_message(false, 'holdfast', repeat('.', page));
  WHILE pg_current_wal_flush_lsn() < here LOOP
    PERFORM pg_sleep(0.002);
  END LOOP;
END $$;
CREATE FUNCTION holdfast.mint_ahead() RETURNS bigint LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  drawn bigint := holdfast.mint();
BEGIN
  WHILE drawn > coalesce((SELECT max(upto) FROM holdfast.reserved), 0) LOOP
    PERFORM holdfast.reserve();
    PERFORM holdfast.wait_for_log();
    drawn := holdfast.mint();
  END LOOP;
  RETURN drawn;
END $$;
)sql";

}  // namespace holdfast::postgres::sql
