// What every part of the schema stands on: its version, what clients call this database, and
// tokens.
//
// A token is the timeline of the server times 2^40, and a number of a sequence that skips but never
// repeats. A replica that is promoted begins another timeline, so that its tokens rise even when it
// missed the latest numbers. Draw a token only once it is certain whose turn it is.

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

}  // namespace holdfast::postgres::sql
