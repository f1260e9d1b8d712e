// What the functions of the lease mode stand on: tables, turns, and giving a lock to the waits.
//
// Users may call none of these; they run with the rights of the schema's owner inside the functions
// that users call. docs/internals/postgres.md has the argument why no two hold at once.

#pragma once

#include <string_view>

namespace holdfast::postgres::sql {

/// Of those who wait, `place` is the order of arrival. Of those who hold, `until` is when the lease
/// ends; a lease that ended leaves the lock closed for `delay` milliseconds more.
inline constexpr std::string_view kLeaseTables = R"sql(
CREATE TABLE holdfast.holder (
  name text COLLATE "C" NOT NULL,
  owner text COLLATE "C" NOT NULL,
  token bigint NOT NULL,
  claim text COLLATE "C" NOT NULL,
  until timestamptz NOT NULL,
  ttl bigint NOT NULL,
  delay bigint NOT NULL,
  session bigint,
  note text NOT NULL,
  PRIMARY KEY (name, owner)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
CREATE TABLE holdfast.waiter (
  name text COLLATE "C" NOT NULL,
  place bigint NOT NULL,
  owner text COLLATE "C" NOT NULL,
  claim text COLLATE "C" NOT NULL,
  until timestamptz NOT NULL,
  ttl bigint NOT NULL,
  delay bigint NOT NULL,
  session bigint,
  note text NOT NULL,
  PRIMARY KEY (name, place),
  UNIQUE (name, owner)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
CREATE TABLE holdfast.broken (
  owner text COLLATE "C" NOT NULL,
  token bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  at timestamptz NOT NULL,
  by text NOT NULL,
  why text NOT NULL,
  PRIMARY KEY (owner, token)
);
CREATE TYPE holdfast.answer AS (outcome text, detail text, change bigint, first boolean);
)sql";

/// What was looked up before the turn came may be old by then: every statement has to see what was
/// committed before it, which no other isolation gives. A lease that a crash of the server forgot
/// would be granted twice.
///
/// They have a value so that a declaration can ask for them: PL/pgSQL performs a query for anything
/// else, which takes longer than they do.
inline constexpr std::string_view kLeaseTurn = R"sql(
CREATE FUNCTION holdfast.be_durable() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE 'holdfast works in transactions that are read committed, and this one is %',
      current_setting('transaction_isolation')
      USING ERRCODE = 'invalid_transaction_state',
            HINT = 'ALTER ROLE ... SET default_transaction_isolation = ''read committed''';
  END IF;
  RETURN current_setting('synchronous_commit') <> 'off' OR
         set_config('synchronous_commit', 'on', true) = 'on';
END $$;
CREATE FUNCTION holdfast.take_turn(_name text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  RETURN holdfast.be_durable() AND
         pg_advisory_xact_lock(1752132708, hashtext(_name)) IS NOT NULL;
END $$;
)sql";

/// ms_until: whole milliseconds, rounded down. is_there: whether one who waits is still there. Its
/// session holds the number, or nobody does; who looks holds it together with others who look.
/// give: gives the lock; the turn is taken, and it is known that the claim may enter.
inline constexpr std::string_view kLeaseWords = R"sql(
CREATE FUNCTION holdfast.ms_until(_time timestamptz, _now timestamptz) RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
  RETURN floor(extract(epoch FROM _time - _now) * 1000);
END $$;
CREATE FUNCTION holdfast.is_there(_session bigint, _until timestamptz, _now timestamptz)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF _session IS NULL THEN
    RETURN _until > _now;
  END IF;
  RETURN NOT pg_try_advisory_xact_lock_shared(_session);
END $$;
CREATE FUNCTION holdfast.give(_name text, _owner text, _ttl bigint, _note text, _claim text,
                               _delay bigint, _session bigint, _now timestamptz)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  minted bigint := holdfast.mint();
BEGIN
  INSERT INTO holdfast.holder AS h
    VALUES (_name, _owner, minted, _claim, _now + _ttl * interval '1 ms', _ttl, _delay, _session,
            _note)
    ON CONFLICT (name, owner) DO UPDATE
      SET token = EXCLUDED.token, until = greatest(h.until, EXCLUDED.until),
          session = EXCLUDED.session;
  RETURN minted;
END $$;
)sql";

/// sweep: clears away who is over. One that is being renewed at this moment is left alone and
/// counts as a holder; so nobody who has the turn waits for a renewal.
///
/// survey: how many hold the lock and by which claim, until when it is closed because one vanished,
/// and when that may change without a word.
///
/// admits: whether a claim may join them.
inline constexpr std::string_view kLeaseSurvey = R"sql(
CREATE FUNCTION holdfast.sweep(_name text, _now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM holdfast.holder AS h
    USING (SELECT owner FROM holdfast.holder
             WHERE name = _name AND until + delay * interval '1 ms' <= _now
             FOR UPDATE SKIP LOCKED) AS over
    WHERE h.name = _name AND h.owner = over.owner;
END $$;
CREATE TYPE holdfast.holders AS
  (count bigint, claim text, closed_until timestamptz, changes_at timestamptz);
CREATE FUNCTION holdfast.survey(_name text, _now timestamptz) RETURNS holdfast.holders
LANGUAGE plpgsql AS $$
DECLARE
  found holdfast.holders;
BEGIN
  SELECT count(*), min(claim),
         max(until + delay * interval '1 ms') FILTER (WHERE until <= _now AND delay > 0),
         CASE WHEN min(claim) = 's' THEN max(until) ELSE min(until) END
    INTO found FROM holdfast.holder WHERE name = _name;
  RETURN found;
END $$;
CREATE FUNCTION holdfast.admits(_there holdfast.holders, _claim text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  IF _there.closed_until IS NOT NULL THEN
    RETURN false;
  END IF;
  RETURN _there.count = 0 OR
         (_claim = _there.claim AND
          (_claim = 's' OR (_claim LIKE 'p%' AND _there.count < substr(_claim, 2)::bigint)));
END $$;
)sql";

inline constexpr std::string_view kLeaseNews = R"sql(
CREATE FUNCTION holdfast.tell(_session bigint, _words text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF _session IS NOT NULL THEN
    PERFORM pg_notify('holdfast_' || _session, _words);
  END IF;
END $$;
CREATE FUNCTION holdfast.change_of(_there holdfast.holders, _now timestamptz) RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
  RETURN greatest(
    holdfast.ms_until(coalesce(_there.closed_until, _there.changes_at), _now), 0) + 1;
END $$;
)sql";

/// Gives a lock to those who wait and are still there, first come first served, as long as the next
/// may enter, and tells each of them alone, with its token, unless it is the one that asks. Who is
/// first then is told in how many milliseconds it should look again; with `_news` also when it was
/// first before.
///
/// mine: the token of the one that asks, if it has one now. head: who is first. there: who holds it
/// now.
inline constexpr std::string_view kLeaseHandOver = R"sql(
CREATE OR REPLACE FUNCTION holdfast.hand_over(_name text, _now timestamptz, _asking text,
                                   _news boolean,
                                   OUT mine bigint, OUT head text, OUT there holdfast.holders)
LANGUAGE plpgsql AS $$
DECLARE
  waits holdfast.waiter;
  behind bigint := 0;
  minted bigint;
  ends timestamptz;
BEGIN
  PERFORM holdfast.sweep(_name, _now);
  there := holdfast.survey(_name, _now);
  LOOP
    SELECT * INTO waits FROM holdfast.waiter
      WHERE name = _name AND place > behind ORDER BY place LIMIT 1;
    EXIT WHEN NOT FOUND;
    behind := waits.place;
    IF waits.owner = _asking OR holdfast.is_there(waits.session, waits.until, _now) THEN
      IF NOT holdfast.admits(there, waits.claim) THEN
        head := waits.owner;
        EXIT;
      END IF;
      minted := holdfast.give(_name, waits.owner, waits.ttl, waits.note, waits.claim,
                               waits.delay, waits.session, _now);
      ends := _now + waits.ttl * interval '1 ms';
      there.count := there.count + 1;
      there.claim := waits.claim;
      there.changes_at := CASE WHEN waits.claim = 's' THEN greatest(there.changes_at, ends)
                               ELSE least(there.changes_at, ends) END;
      IF waits.owner = _asking THEN
        mine := minted;
      ELSE
        PERFORM holdfast.tell(waits.session, 'granted ' || waits.owner || ' ' || minted);
      END IF;
    END IF;
    DELETE FROM holdfast.waiter WHERE name = _name AND place = waits.place;
    _news := true;
  END LOOP;
  IF _news AND head IS NOT NULL AND head IS DISTINCT FROM _asking THEN
    PERFORM holdfast.tell(waits.session,
                          'first ' || head || ' ' || holdfast.change_of(there, _now));
  END IF;
END $$;
)sql";

}  // namespace holdfast::postgres::sql
