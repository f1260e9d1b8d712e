// The lease mode in SQL: what lease_statements.h calls.
//
// Every function takes the turn of its name before it looks at anything, so that what one does to a
// name comes wholly before or wholly after what another does. Only renewals and extensions do not:
// they change one row that is there and stands, and nobody takes a row away whose lease stands.
//
// Several names are taken in one order everywhere, that of their turns: nobody waits in a circle.
//
// Plans are made once per session: where sequential scans are off, PostgreSQL thinks a plan for the
// very values of a call cheaper, and would plan anew every time.

#pragma once

#include "base/join.h"
#include "engines/postgres/schema/lease_desk_sql.h"
#include "engines/postgres/schema/lease_parts_sql.h"

namespace holdfast::postgres::sql {

/// clashes: whether somebody who is there uses another number of permits. ask: one who asks for a
/// lock and perhaps waits for it; the turn is taken. The owner that holds the lock asks for it
/// again: it has it, and its TTL begins anew.
inline constexpr std::string_view kLeaseAsk = R"sql(
CREATE FUNCTION holdfast.clashes(_name text, _owner text, _claim text, _now timestamptz)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM holdfast.holder
               WHERE name = _name AND claim LIKE 'p%' AND claim <> _claim AND until > _now) THEN
    RETURN true;
  END IF;
  IF EXISTS (SELECT FROM holdfast.waiter WHERE name = _name AND owner = _owner) THEN
    RETURN false;
  END IF;
  RETURN EXISTS (SELECT FROM holdfast.waiter
                   WHERE name = _name AND claim LIKE 'p%' AND claim <> _claim
                     AND holdfast.is_there(session, until, _now));
END $$;
CREATE FUNCTION holdfast.ask(_name text, _owner text, _ttl bigint, _note text, _claim text,
                             _delay bigint, _session bigint, _waits boolean)
RETURNS holdfast.answer LANGUAGE plpgsql AS $$
DECLARE
  answer holdfast.answer;
  now timestamptz := clock_timestamp();
  ends timestamptz := now + _ttl * interval '1 ms';
  handed record;
BEGIN
  answer.outcome := 'granted';
  UPDATE holdfast.holder
    SET until = greatest(until, ends), session = coalesce(_session, session)
    WHERE name = _name AND owner = _owner AND until > now
    RETURNING token::text INTO answer.detail;
  IF FOUND THEN
    RETURN answer;
  END IF;
  IF _claim LIKE 'p%' AND holdfast.clashes(_name, _owner, _claim, now) THEN
    answer.outcome := 'permits';
    RETURN answer;
  END IF;
  IF _waits THEN
    INSERT INTO holdfast.waiter
      VALUES (_name,
              coalesce((SELECT max(place) FROM holdfast.waiter WHERE name = _name), 0) + 1,
              _owner, _claim, ends, _ttl, _delay, _session, _note)
      ON CONFLICT (name, owner) DO UPDATE
        SET until = EXCLUDED.until, session = EXCLUDED.session;
  END IF;
  handed := holdfast.hand_over(_name, now, _owner, false);
  answer.detail := handed.mine;
  IF handed.mine IS NULL AND handed.head IS NULL AND holdfast.admits(handed.there, _claim) THEN
    answer.detail := holdfast.give(_name, _owner, _ttl, _note, _claim, _delay, _session, now);
  END IF;
  IF answer.detail IS NOT NULL THEN
    RETURN answer;
  END IF;
  answer.outcome := CASE WHEN _waits THEN 'queued' ELSE 'busy' END;
  SELECT string_agg(token || ' ' || owner || ' ' || note, '') INTO answer.detail
    FROM holdfast.holder WHERE name = _name AND until > now HAVING count(*) = 1;
  answer.change := holdfast.change_of(handed.there, now);
  answer.first := coalesce(handed.head = _owner, true);
  RETURN answer;
END $$;
)sql";

inline constexpr std::string_view kLeaseAcquire = R"sql(
CREATE FUNCTION holdfast.acquire(_name text, _owner text, _ttl bigint, _note text, _claim text,
                                 _delay bigint, _session bigint, _waits boolean,
                                 OUT outcome text, OUT detail text, OUT change bigint,
                                 OUT first boolean)
LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  turn boolean := holdfast.take_turn(_name);
BEGIN
  INSERT INTO holdfast.holder
    SELECT _name, _owner, holdfast.mint(), _claim, clock_timestamp() + _ttl * interval '1 ms',
           _ttl, _delay, _session, _note
      WHERE NOT EXISTS (SELECT FROM holdfast.holder WHERE name = _name)
        AND NOT EXISTS (SELECT FROM holdfast.waiter WHERE name = _name)
    RETURNING 'granted', token INTO outcome, detail;
  IF FOUND THEN
    RETURN;
  END IF;
  SELECT * INTO outcome, detail, change, first
    FROM holdfast.ask(_name, _owner, _ttl, _note, _claim, _delay, _session, _waits);
END $$;
CREATE FUNCTION holdfast.refresh(_names text[], _owners text[], _ttls bigint[], _notes text[],
                                 _claims text[], _delays bigint[], _session bigint)
RETURNS SETOF holdfast.answer LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  asked record;
  turn boolean;
  answers holdfast.answer[];
BEGIN
  FOR asked IN
    SELECT * FROM unnest(_names, _owners, _ttls, _notes, _claims, _delays)
      WITH ORDINALITY AS a (name, owner, ttl, note, claim, delay, at)
      ORDER BY hashtext(a.name), a.name COLLATE "C", a.at
  LOOP
    turn := holdfast.take_turn(asked.name);
    answers[asked.at] := holdfast.ask(asked.name, asked.owner, asked.ttl, asked.note, asked.claim,
                                      asked.delay, _session, true);
  END LOOP;
  RETURN QUERY SELECT * FROM unnest(answers);
END $$;
)sql";

inline constexpr std::string_view kLeaseConfirm = R"sql(
CREATE FUNCTION holdfast.confirm(_name text, _owner text, OUT token bigint, OUT left_ms bigint)
LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  now timestamptz := clock_timestamp();
BEGIN
  SELECT h.token, holdfast.ms_until(h.until, now) INTO token, left_ms
    FROM holdfast.holder AS h WHERE h.name = _name AND h.owner = _owner AND h.until > now;
END $$;
)sql";

/// One whose lease ended and left the lock closed does not open it by releasing it.
///
/// Of an exclusive lock nobody else has a row. So the next one has it if it is there and wants the
/// same, which needs fewer steps than to look at everybody.
inline constexpr std::string_view kLeaseRelease = R"sql(
CREATE OR REPLACE FUNCTION holdfast.release(_name text, _owner text, _token bigint)
RETURNS boolean LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  turn boolean := holdfast.take_turn(_name);
  now timestamptz := clock_timestamp();
  held record;
  next holdfast.waiter;
  minted bigint;
  awaited boolean;
  left_place bigint;
BEGIN
  DELETE FROM holdfast.holder
    WHERE name = _name AND owner = _owner AND (until > now OR delay = 0)
    RETURNING token, claim, until > now AS stood,
              EXISTS (SELECT FROM holdfast.waiter WHERE name = _name) AS awaited
    INTO held;
  awaited := held.awaited;
  IF held.stood AND awaited AND held.claim = 'x' THEN
    SELECT * INTO next FROM holdfast.waiter WHERE name = _name ORDER BY place LIMIT 1;
    IF next.claim = 'x' AND next.session IS NOT NULL AND
       NOT pg_try_advisory_xact_lock_shared(next.session) THEN
      minted := holdfast.mint();
      INSERT INTO holdfast.holder
        VALUES (_name, next.owner, minted, 'x', now + next.ttl * interval '1 ms', next.ttl,
                next.delay, next.session, next.note);
      DELETE FROM holdfast.waiter WHERE name = _name AND place = next.place
        RETURNING EXISTS (SELECT FROM holdfast.waiter AS w
                            WHERE w.name = _name AND w.place > next.place) INTO awaited;
      turn := pg_notify('holdfast_' || next.session, 'granted ' || next.owner || ' ' || minted)
              IS NOT NULL;
    END IF;
  END IF;
  IF held.stood IS NOT TRUE THEN
    DELETE FROM holdfast.waiter WHERE name = _name AND owner = _owner
      RETURNING place INTO left_place;
    awaited := held.token IS NOT NULL OR
               (left_place IS NOT NULL AND
                NOT EXISTS (SELECT FROM holdfast.waiter
                              WHERE name = _name AND place < left_place));
  END IF;
  IF awaited THEN
    PERFORM holdfast.hand_over(_name, now, NULL, true);
  END IF;
  RETURN held.stood IS TRUE AND (_token IS NULL OR _token = held.token);
END $$;
)sql";

/// A lease that is gone in a later timeline than that of its token was lost in a failover: it would
/// have been renewed before it ended.
inline constexpr std::string_view kLeaseRenew = R"sql(
CREATE FUNCTION holdfast.renew(_names text[], _owners text[], _tokens bigint[], _ttl bigint,
                               _session bigint)
RETURNS SETOF text LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  lease record;
  fates text[];
  durable boolean := holdfast.be_durable();
BEGIN
  FOR lease IN
    SELECT * FROM unnest(_names, _owners, _tokens) WITH ORDINALITY AS l (name, owner, token, at)
      ORDER BY hashtext(l.name), l.name COLLATE "C", l.owner COLLATE "C"
  LOOP
    UPDATE holdfast.holder
      SET until = greatest(until, clock_timestamp() + _ttl * interval '1 ms'),
          session = coalesce(_session, session)
      WHERE name = lease.name AND owner = lease.owner AND token = lease.token
        AND until > clock_timestamp();
    IF FOUND THEN
      fates[lease.at] := 'renewed';
    ELSIF EXISTS (SELECT FROM holdfast.broken
                    WHERE owner = lease.owner AND token = lease.token) THEN
      fates[lease.at] := 'broken';
    ELSIF holdfast.mint() >> 40 > lease.token >> 40 THEN
      fates[lease.at] := 'failed_over';
    ELSE
      fates[lease.at] := 'gone';
    END IF;
  END LOOP;
  RETURN QUERY SELECT unnest(fates);
END $$;
)sql";

/// Names that nobody asks for again leave rows behind; they go when somebody begins to attend, a
/// day later.
inline constexpr std::string_view kLeaseAttend = R"sql(
CREATE FUNCTION holdfast.tidy() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  past timestamptz := clock_timestamp() - interval '1 day';
BEGIN
  DELETE FROM holdfast.holder AS h
    USING (SELECT name, owner FROM holdfast.holder
             WHERE until + delay * interval '1 ms' < past FOR UPDATE SKIP LOCKED) AS over
    WHERE h.name = over.name AND h.owner = over.owner;
  DELETE FROM holdfast.waiter AS w
    USING (SELECT name, place FROM holdfast.waiter
             WHERE until < past AND NOT holdfast.is_there(session, until, past)
             FOR UPDATE SKIP LOCKED) AS away
    WHERE w.name = away.name AND w.place = away.place;
END $$;
CREATE FUNCTION holdfast.attend(_session bigint) RETURNS boolean LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM holdfast.tidy();
  EXECUTE 'LISTEN holdfast_' || _session;
  RETURN pg_try_advisory_lock(_session);
END $$;
)sql";

/// Nobody but the schema's owner may call anything until it is granted.
inline constexpr std::string_view kLeaseRights = R"sql(
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA holdfast FROM PUBLIC;
)sql";

/// To be run after kBase.
inline constexpr std::string_view kLease = Joined<kLeaseTables,
                                                  kLeaseTurn,
                                                  kLeaseWords,
                                                  kLeaseSurvey,
                                                  kLeaseNews,
                                                  kLeaseHandOver,
                                                  kLeaseAsk,
                                                  kLeaseAcquire,
                                                  kLeaseConfirm,
                                                  kLeaseRelease,
                                                  kLeaseRenew,
                                                  kLeaseAttend,
                                                  kLeaseDesk,
                                                  kLeaseRights>::value;

}  // namespace holdfast::postgres::sql
