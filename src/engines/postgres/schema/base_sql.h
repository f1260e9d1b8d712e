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
CREATE FUNCTION holdfast.mint() RETURNS bigint LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  timeline bigint := ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint;
BEGIN
  IF timeline > 8191 THEN
    RAISE 'tokens are used up: the server is in timeline %', timeline;
  END IF;
  RETURN (timeline << 40) + nextval('holdfast.token');
END $$;
)sql";

}  // namespace holdfast::postgres::sql
