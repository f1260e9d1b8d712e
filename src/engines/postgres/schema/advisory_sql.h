// What session advisory locks need of the schema: to wait with a token at the end, and to tell
// people who holds what.
//
// The locks are PostgreSQL's own. Tables have notes on them only, and are emptied by a crash, as
// the locks are. Whoever may call these functions writes notes of its own session alone.

#pragma once

#include <string_view>

namespace holdfast::postgres::sql {

inline constexpr std::string_view kAdvisory = R"sql(
CREATE UNLOGGED TABLE holdfast.advisory_session (
  pid integer PRIMARY KEY,
  id bigint NOT NULL,
  ttl bigint NOT NULL);
CREATE UNLOGGED TABLE holdfast.advisory_note (
  pid integer NOT NULL,
  key bigint NOT NULL,
  name text NOT NULL,
  owner text NOT NULL,
  note text NOT NULL,
  token bigint,
  PRIMARY KEY (pid, key));
CREATE UNLOGGED TABLE holdfast.advisory_broken (
  id bigint PRIMARY KEY,
  at timestamptz NOT NULL);

-- Which server this is: it is another one after a restart or a promotion. A standby has no timeline
-- of its own.
CREATE FUNCTION holdfast.advisory_server(OUT timeline text, OUT started text) LANGUAGE sql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN NOT pg_is_in_recovery()
              THEN substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END,
         extract(epoch FROM pg_postmaster_start_time())::text
$$;

-- This session is Holdfast's from now on. What sessions left that are gone is cleared away.
CREATE FUNCTION holdfast.advisory_begin(session bigint, ttl_ms bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF pg_is_in_recovery() THEN
    RAISE 'cannot take locks at a read-only standby' USING ERRCODE = 'read_only_sql_transaction';
  END IF;
  DELETE FROM holdfast.advisory_note
    WHERE pid = pg_backend_pid() OR pid NOT IN (SELECT a.pid FROM pg_stat_activity a);
  DELETE FROM holdfast.advisory_session
    WHERE pid <> pg_backend_pid() AND pid NOT IN (SELECT a.pid FROM pg_stat_activity a);
  INSERT INTO holdfast.advisory_session VALUES (pg_backend_pid(), session, ttl_ms)
    ON CONFLICT (pid) DO UPDATE SET id = excluded.id, ttl = excluded.ttl;
END $$;

CREATE FUNCTION holdfast.advisory_note(
  keys bigint[], names text[], owners text[], notes text[], tokens bigint[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  INSERT INTO holdfast.advisory_note
    SELECT pg_backend_pid(), n.* FROM unnest(keys, names, owners, notes, tokens) AS n
    ON CONFLICT (pid, key) DO UPDATE
      SET name = excluded.name, owner = excluded.owner, note = excluded.note, token = excluded.token
$$;

CREATE FUNCTION holdfast.advisory_forget(wanted bigint, whose text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  DELETE FROM holdfast.advisory_note
    WHERE pid = pg_backend_pid() AND key = wanted AND owner = whose
$$;

CREATE FUNCTION holdfast.advisory_granted(wanted bigint, drawn bigint) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  UPDATE holdfast.advisory_note SET token = drawn WHERE pid = pg_backend_pid() AND key = wanted
$$;

-- Waits in the server's queue; NULL when the time is up. A time-out may come a moment after the
-- lock was given: then it is held, and kept.
CREATE FUNCTION holdfast.advisory_wait(wanted bigint, shared boolean, wait_ms integer)
RETURNS bigint LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  drawn bigint;
BEGIN
  PERFORM set_config('lock_timeout', wait_ms::text, true);
  BEGIN
    IF shared THEN
      PERFORM pg_advisory_lock_shared(wanted);
    ELSE
      PERFORM pg_advisory_lock(wanted);
    END IF;
  EXCEPTION WHEN lock_not_available THEN
    IF NOT EXISTS (
        SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database
        WHERE l.locktype = 'advisory' AND l.pid = pg_backend_pid() AND l.granted
          AND d.datname = current_database() AND l.objsubid = 1
          AND l.classid::bigint << 32 | l.objid::bigint = wanted) THEN
      RETURN NULL;
    END IF;
  END;
  PERFORM set_config('lock_timeout', '0', true);
  drawn := holdfast.mint();
  PERFORM holdfast.advisory_granted(wanted, drawn);
  RETURN drawn;
END $$;

-- Who holds and who waits: holders in the order of their tokens, then waiters in order. Without a
-- key: every lock that has a note whose name begins so, and those of Holdfast's that have no note
-- yet.
CREATE FUNCTION holdfast.advisory_look(wanted bigint, beginning text)
RETURNS TABLE (key bigint, granted boolean, mode text, pid integer, ours boolean, session bigint,
               name text, owner text, note text, token bigint, left_ms bigint, application text,
               since_ms bigint)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT l.key, l.granted, l.mode, l.pid, s.pid IS NOT NULL, s.id, n.name, n.owner, n.note, n.token,
         CASE WHEN l.granted THEN greatest(0, s.ttl - coalesce(
           extract(epoch FROM clock_timestamp() - a.state_change) * 1000, 0))::bigint
         ELSE s.ttl END,
         a.application_name, (extract(epoch FROM a.query_start) * 1000)::bigint
  FROM (SELECT classid::bigint << 32 | objid::bigint AS key, granted, mode, pid, waitstart
        FROM pg_locks
        WHERE locktype = 'advisory' AND objsubid = 1
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) l
  LEFT JOIN holdfast.advisory_session s ON s.pid = l.pid
  LEFT JOIN holdfast.advisory_note n ON n.pid = l.pid AND n.key = l.key AND s.pid IS NOT NULL
  LEFT JOIN pg_stat_activity a ON a.pid = l.pid
  WHERE l.key = wanted OR wanted IS NULL AND s.pid IS NOT NULL
    AND (n.name IS NULL OR starts_with(n.name, beginning))
  ORDER BY n.name COLLATE "C", l.granted DESC, n.token, l.waitstart
$$;

-- Whether the session was ended by force, and which server says so.
CREATE FUNCTION holdfast.advisory_fate(session bigint, OUT broken boolean, OUT timeline text,
                                       OUT started text) LANGUAGE sql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT EXISTS (SELECT FROM holdfast.advisory_broken WHERE id = session), s.timeline, s.started
  FROM holdfast.advisory_server() s
$$;

-- About to be ended by force; or not, after all.
CREATE FUNCTION holdfast.advisory_mark(session bigint, ended boolean) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  DELETE FROM holdfast.advisory_broken WHERE id = session OR at < now() - interval '1 day';
  IF ended THEN
    INSERT INTO holdfast.advisory_broken VALUES (session, now());
  END IF;
END $$;
)sql";

}  // namespace holdfast::postgres::sql
