// Looking at leases and acting on them from outside.

#pragma once

#include <string_view>

namespace holdfast::postgres::sql {

/// break locks what it ends in the order in which renewals do.
///
/// contenders: of all names from one to another, in the order of bytes. Who is over, or not there
/// any more, does not show.
inline constexpr std::string_view kLeaseDesk = R"sql(
CREATE FUNCTION holdfast.contenders(_first text, _last text)
RETURNS TABLE (name text, kind text, owner text, note text, claim text, token bigint,
               left_ms bigint, ttl bigint)
LANGUAGE plpgsql AS $$
DECLARE
  now timestamptz := clock_timestamp();
BEGIN
  RETURN QUERY
    SELECT c.name, c.kind, c.owner, c.note, c.claim, c.token, c.left_ms, c.ttl
      FROM (SELECT h.name, 'holder' AS kind, h.owner, h.note, h.claim, h.token,
                   holdfast.ms_until(h.until, now) AS left_ms, h.ttl, 1 AS part, h.token AS at
              FROM holdfast.holder AS h
              WHERE h.name BETWEEN _first AND _last AND h.until > now
            UNION ALL
            SELECT h.name, 'delay', NULL, NULL, NULL, NULL,
                   max(holdfast.ms_until(h.until + h.delay * interval '1 ms', now)) + 1, 0, 2, 0
              FROM holdfast.holder AS h
              WHERE h.name BETWEEN _first AND _last AND h.until <= now
                AND h.until + h.delay * interval '1 ms' > now
              GROUP BY h.name
            UNION ALL
            SELECT w.name, 'waiter', w.owner, w.note, w.claim, NULL,
                   CASE WHEN w.session IS NULL THEN holdfast.ms_until(w.until, now) END, w.ttl, 3,
                   w.place
              FROM holdfast.waiter AS w
              WHERE w.name BETWEEN _first AND _last
                AND holdfast.is_there(w.session, w.until, now)) AS c
      ORDER BY c.name COLLATE "C", c.part, c.at;
END $$;
CREATE FUNCTION holdfast.inspect(_name text)
RETURNS TABLE (kind text, owner text, note text, claim text, token bigint, left_ms bigint,
               ttl bigint)
LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN QUERY SELECT c.kind, c.owner, c.note, c.claim, c.token, c.left_ms, c.ttl
                 FROM holdfast.contenders(_name, _name) AS c;
END $$;
CREATE FUNCTION holdfast.list(_prefix text)
RETURNS TABLE (name text, kind text, owner text, note text, claim text, token bigint,
               left_ms bigint, ttl bigint)
LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  last text := greatest((SELECT max(h.name) FROM holdfast.holder AS h),
                        (SELECT max(w.name) FROM holdfast.waiter AS w));
BEGIN
  RETURN QUERY SELECT c.* FROM holdfast.contenders(_prefix, last) AS c
                 WHERE c.name ^@ _prefix;
END $$;
CREATE FUNCTION holdfast.break(_name text, _why text)
RETURNS TABLE (owner text, token bigint, note text) LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  turn boolean := holdfast.take_turn(_name);
  now timestamptz := clock_timestamp();
  ended holdfast.holder;
  opened boolean := false;
  ends boolean := false;
BEGIN
  PERFORM holdfast.sweep(_name, now);
  DELETE FROM holdfast.broken AS b WHERE b.at < now - interval '1 day';
  PERFORM FROM holdfast.holder AS h WHERE h.name = _name ORDER BY h.owner FOR UPDATE;
  FOR ended IN SELECT h.* FROM holdfast.holder AS h WHERE h.name = _name ORDER BY h.token LOOP
    opened := true;
    DELETE FROM holdfast.holder AS h WHERE h.name = _name AND h.owner = ended.owner;
    CONTINUE WHEN ended.until <= now;
    INSERT INTO holdfast.broken VALUES (ended.owner, ended.token, _name, now, session_user, _why)
      ON CONFLICT DO NOTHING;
    PERFORM holdfast.tell(ended.session, 'broken ' || ended.owner);
    ends := true;
    owner := ended.owner;
    token := ended.token;
    note := ended.note;
    RETURN NEXT;
  END LOOP;
  IF opened AND NOT ends THEN
    RETURN NEXT;
  END IF;
  IF opened THEN
    PERFORM holdfast.hand_over(_name, now, NULL, true);
  END IF;
END $$;
CREATE FUNCTION holdfast.extend(_name text, _owner text, _ttl bigint) RETURNS bigint
LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  durable boolean := holdfast.be_durable();
  now timestamptz := clock_timestamp();
  ends timestamptz;
BEGIN
  UPDATE holdfast.holder SET until = greatest(until, now + _ttl * interval '1 ms')
    WHERE name = _name AND owner = _owner AND until > now RETURNING until INTO ends;
  RETURN holdfast.ms_until(ends, now);
END $$;
)sql";

}  // namespace holdfast::postgres::sql
