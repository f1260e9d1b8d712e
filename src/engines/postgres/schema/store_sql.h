// The store in SQL: values with versions, and fences that refuse whoever may no longer change them.
//
// A row has everything of one key. Every operation is one function, and answers a word: what became
// of it, or the code of a refusal. The row stays locked until the transaction ends. What expires is
// kept some time longer, and goes when others that expire are written.

#pragma once

#include <string_view>

namespace holdfast::postgres::sql {

inline constexpr std::string_view kStoreRows = R"sql(
CREATE TABLE holdfast.store (
  space text NOT NULL,                 -- value, or once
  key text COLLATE "C" NOT NULL,
  value bytea,
  version bigint NOT NULL DEFAULT 0,   -- rises with every change; microseconds, as a rule
  expires timestamptz,                 -- from then on the value is not there
  forget timestamptz,                  -- from then on the row may go
  fence holdfast.fence,
  done bigint[] NOT NULL DEFAULT '{}', -- of the last four changes: request, version, sequence
  rebased bigint,                      -- the request that moved it to another lock last
  PRIMARY KEY (space, key)
) WITH (fillfactor = 70);
CREATE INDEX store_forget ON holdfast.store (forget) WHERE forget IS NOT NULL;
CREATE TABLE holdfast.audit (
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  action text NOT NULL, space text NOT NULL, key text NOT NULL,
  from_domain text NOT NULL, to_domain text NOT NULL, highest bigint NOT NULL,
  why text NOT NULL, who text NOT NULL
);
CREATE TYPE holdfast.reply AS (
  word text, first bigint, second bigint, third bigint, fourth bigint,
  value bytea, message text, settled boolean
);

-- A mark that a crash of the server loses lets an old holder in.
CREATE FUNCTION holdfast.make_durable() RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF current_setting('synchronous_commit') = 'off' THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
END $$;

CREATE FUNCTION holdfast.next_version(last bigint) RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT greatest(last + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
$$;

-- Something to lock. Who made it is let pass, or it was there before.
CREATE FUNCTION holdfast.make_row(of_space text, of_key text) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  INSERT INTO holdfast.store (space, key) VALUES (of_space, of_key) ON CONFLICT DO NOTHING;
END $$;

-- Without a value, a fence is not forgotten: its holder is at work.
CREATE FUNCTION holdfast.save_fence(of_space text, of_key text, f holdfast.fence) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  moment timestamptz := clock_timestamp();
BEGIN
  PERFORM holdfast.make_durable();
  UPDATE holdfast.store s
     SET fence = f,
         value = CASE WHEN s.expires <= moment THEN NULL ELSE s.value END,
         expires = CASE WHEN s.value IS NULL OR s.expires <= moment THEN NULL ELSE s.expires END,
         forget = CASE WHEN s.value IS NULL OR s.expires IS NULL OR s.expires <= moment THEN NULL
                       ELSE s.forget END
   WHERE s.space = of_space AND s.key = of_key;
END $$;

CREATE FUNCTION holdfast.forget_some() RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  DELETE FROM holdfast.store WHERE ctid = ANY (ARRAY(
    SELECT s.ctid FROM holdfast.store s WHERE s.forget < clock_timestamp()
     ORDER BY s.forget LIMIT 4 FOR UPDATE SKIP LOCKED));
END $$;

-- Changes the value of a locked row, whose version was `last`.
CREATE FUNCTION holdfast.change(of_space text, of_key text, last bigint, f holdfast.fence,
                                new_value bytea, keep bigint, request bigint)
RETURNS holdfast.reply LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  until timestamptz := clock_timestamp() + keep * interval '1 millisecond';
  passes boolean := keep IS NOT NULL OR (new_value IS NULL AND f.domain IS NULL);
  made bigint := holdfast.next_version(last);
  number bigint := coalesce(f.sequence, 0);
BEGIN
  PERFORM holdfast.make_durable();
  UPDATE holdfast.store s
     SET value = new_value, fence = f, expires = until, version = made,
         forget = CASE WHEN passes
                       THEN coalesce(until, clock_timestamp()) + interval '10 minutes' END,
         done = ARRAY[coalesce(request, 0), made, number] || s.done[1:9]
   WHERE s.space = of_space AND s.key = of_key;
  IF passes THEN
    PERFORM holdfast.forget_some();
  END IF;
  RETURN ROW('applied', made, number, 0, 0, NULL, NULL, true)::holdfast.reply;
END $$;

-- What was answered to this very request before. NULL: it has not changed anything, or that is too
-- long ago.
CREATE FUNCTION holdfast.done_before(done bigint[], request bigint) RETURNS holdfast.reply
LANGUAGE sql IMMUTABLE AS $$
  SELECT ROW('applied', done[i + 1], done[i + 2], 0, 0, NULL, NULL, true)::holdfast.reply
    FROM generate_series(1, 10, 3) i WHERE done[i] = request LIMIT 1
$$;

-- `age`: how long ago, in microseconds, an earlier attempt may have been made; NULL: none was.
-- Settled: one that changed the row since would be remembered.
CREATE FUNCTION holdfast.refused(d holdfast.decision, done bigint[], age bigint)
RETURNS holdfast.reply LANGUAGE sql VOLATILE AS $$
  SELECT ROW((d).code, (d).yours, (d).highest, 0, 0, NULL, (d).message,
             age IS NULL OR coalesce(cardinality(done), 0) < 12 OR
               done[11] < holdfast.next_version(0) - age)::holdfast.reply
$$;
)sql";

inline constexpr std::string_view kStoreFenced = R"sql(
-- Registers the holder and answers what is remembered then, or the refusal.
CREATE FUNCTION holdfast.enter(of_space text, of_key text, h holdfast.caller, policy text)
RETURNS holdfast.decision LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  f holdfast.fence;
  d holdfast.decision;
BEGIN
  LOOP
    SELECT (s.fence).* INTO f FROM holdfast.store s
     WHERE s.space = of_space AND s.key = of_key FOR UPDATE;
    IF FOUND THEN
      d := holdfast.decide_open(f, h, policy);
      IF d.code IS NULL AND d.fence IS DISTINCT FROM f THEN
        PERFORM holdfast.save_fence(of_space, of_key, d.fence);
      END IF;
      RETURN d;
    END IF;
    PERFORM holdfast.make_row(of_space, of_key);
  END LOOP;
END $$;

-- opened, last sequence.
CREATE FUNCTION holdfast.store_open(of_space text, of_key text, domain text, mode text,
                                    token bigint, owner text, policy text)
RETURNS holdfast.reply LANGUAGE plpgsql VOLATILE
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  d holdfast.decision;
BEGIN
  d := holdfast.enter(of_space, of_key, ROW(domain, mode, token, owner)::holdfast.caller, policy);
  IF d.code IS NOT NULL THEN
    RETURN holdfast.refused(d, NULL, NULL);
  END IF;
  RETURN ROW('opened', (d.fence).sequence, 0, 0, 0, NULL, NULL, true)::holdfast.reply;
END $$;

-- As store_get, of a registered holder. Looks without a lock first: most change nothing.
CREATE FUNCTION holdfast.store_read(of_space text, of_key text, domain text, mode text,
                                    token bigint, owner text, number numeric, opened boolean)
RETURNS holdfast.reply LANGUAGE plpgsql VOLATILE
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  r record;
  d holdfast.decision;
  locked boolean := false;
BEGIN
  LOOP
    SELECT s.version, s.fence, s.expires,
           CASE WHEN s.expires <= clock_timestamp() THEN NULL ELSE s.value END AS value
      INTO r FROM holdfast.store s WHERE s.space = of_space AND s.key = of_key;
    d := holdfast.decide_read(r.fence, ROW(domain, mode, token, owner)::holdfast.caller, opened);
    IF d.code IS NULL AND number < (d.fence).sequence AND
       (d.fence).exclusive = token AND (d.fence).exclusive_owner = owner THEN
      d := holdfast.refuse('stale_token', 'sequence ' || number || ' is older than ' ||
                           (d.fence).sequence, token, (d.fence).exclusive);
    END IF;
    IF d.code IS NOT NULL THEN
      RETURN holdfast.refused(d, NULL, NULL);
    END IF;
    EXIT WHEN d.fence IS NOT DISTINCT FROM r.fence AND (r.expires IS NULL OR r.value IS NOT NULL);
    IF locked THEN
      PERFORM holdfast.save_fence(of_space, of_key, d.fence);
      EXIT;
    END IF;
    PERFORM holdfast.make_row(of_space, of_key);
    PERFORM FROM holdfast.store s WHERE s.space = of_space AND s.key = of_key FOR UPDATE;
    locked := FOUND;
  END LOOP;
  RETURN holdfast.entry(r.version, d.fence, r.value);
END $$;

)sql";

inline constexpr std::string_view kStoreWrite = R"sql(
-- applied or duplicate, version, sequence. An opened holder passes at once, under the conditions of
-- decide_write; whoever does not is decided on slowly.
CREATE OR REPLACE FUNCTION holdfast.store_write(of_space text, of_key text, domain text, mode text,
                                     token bigint, owner text, new_value bytea, number numeric,
                                     opened boolean, keep bigint, request bigint, age bigint)
RETURNS holdfast.reply LANGUAGE plpgsql VOLATILE
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  made bigint := extract(epoch FROM clock_timestamp()) * 1000000;
  answer holdfast.reply;
BEGIN
  IF mode = 'exclusive' AND keep IS NULL AND coalesce(number <= 9007199254740991, true) THEN
    UPDATE holdfast.store s
       SET value = new_value, version = greatest(s.version + 1, made),
           fence = ROW(store_write.domain, (s.fence).policy, token, owner, token, owner,
                       coalesce(number, (s.fence).sequence + 1), token,
                       coalesce(number, (s.fence).sequence + 1))::holdfast.fence,
           done = ARRAY[request, greatest(s.version + 1, made),
                        coalesce(number, (s.fence).sequence + 1)::bigint] || s.done[1:9]
     WHERE s.space = of_space AND s.key = of_key AND s.forget IS NULL AND s.expires IS NULL
       AND (s.fence).domain = store_write.domain AND (s.fence).exclusive = token
       AND (s.fence).exclusive_owner = owner AND (s.fence).newest = token
       AND (s.fence).newest_owner = owner AND coalesce(number > (s.fence).sequence, true)
       AND (s.fence).sequence < 9007199254740991
       AND NOT ((s.fence).policy = 'strict' AND (s.fence).written = token)
       AND request <> ALL (s.done)
     RETURNING 'applied'::text, s.version, (s.fence).sequence, 0::bigint, 0::bigint, NULL::bytea,
               NULL::text, true INTO answer;
    IF FOUND THEN
      IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM holdfast.make_durable();
      END IF;
      RETURN answer;
    END IF;
  END IF;
  RETURN holdfast.write_slowly(of_space, of_key, ROW(domain, mode, token, owner)::holdfast.caller,
                               new_value, number, opened, keep, request, age);
END $$;
)sql";

inline constexpr std::string_view kStoreWriteSlowly = R"sql(
CREATE FUNCTION holdfast.write_slowly(of_space text, of_key text, h holdfast.caller,
                                      new_value bytea, number numeric, opened boolean, keep bigint,
                                      request bigint, age bigint)
RETURNS holdfast.reply LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  r record;
  d holdfast.decision;
  answer holdfast.reply;
  known boolean;
BEGIN
  LOOP
    SELECT s.version, s.fence, s.done,
           CASE WHEN s.expires <= clock_timestamp() THEN NULL ELSE s.value END
             IS NOT DISTINCT FROM new_value AS same
      INTO r FROM holdfast.store s WHERE s.space = of_space AND s.key = of_key FOR UPDATE;
    known := FOUND;
    answer := holdfast.done_before(r.done, request);
    IF answer.word IS NOT NULL THEN
      RETURN answer;
    END IF;
    d := holdfast.decide_write(r.fence, h, opened, number, known AND r.same);
    IF d.code IS NOT NULL THEN
      RETURN holdfast.refused(d, r.done, age);
    END IF;
    IF d.duplicate THEN
      RETURN ROW('duplicate', r.version, (d.fence).sequence, 0, 0, NULL, NULL,
                 true)::holdfast.reply;
    END IF;
    IF known THEN
      RETURN holdfast.change(of_space, of_key, r.version, d.fence, new_value, keep, request);
    END IF;
    PERFORM holdfast.make_row(of_space, of_key);
  END LOOP;
END $$;

-- applied, version, 0. On record first: a fence that nobody can account for is worse than one that
-- was not moved.
CREATE FUNCTION holdfast.store_rebase(of_space text, of_key text, domain text, why text, who text,
                                      request bigint)
RETURNS holdfast.reply LANGUAGE plpgsql VOLATILE
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  r record;
BEGIN
  SELECT s.version, s.fence, s.rebased INTO r FROM holdfast.store s
   WHERE s.space = of_space AND s.key = of_key FOR UPDATE;
  IF r.rebased IS DISTINCT FROM request OR request IS NULL THEN
    IF (r.fence).domain IS NULL THEN
      RETURN holdfast.refused(
        holdfast.refuse('not_found', 'there is no fenced resource of that name'), NULL, NULL);
    END IF;
    INSERT INTO holdfast.audit (action, space, key, from_domain, to_domain, highest, why, who)
    VALUES ('rebase', of_space, of_key, (r.fence).domain, domain, (r.fence).newest, why, who);
    PERFORM holdfast.save_fence(of_space, of_key, ROW(domain, (r.fence).policy, 0, '', 0, '', 0, 0,
                                                      0)::holdfast.fence);
    UPDATE holdfast.store s SET rebased = request WHERE s.space = of_space AND s.key = of_key;
  END IF;
  RETURN ROW('applied', r.version, 0, 0, 0, NULL, NULL, true)::holdfast.reply;
END $$;
)sql";

inline constexpr std::string_view kStorePlain = R"sql(
-- found, last sequence, version, token and sequence of the write, value; or absent, last sequence,
-- version.
CREATE FUNCTION holdfast.entry(version bigint, f holdfast.fence, value bytea)
RETURNS holdfast.reply LANGUAGE sql IMMUTABLE AS $$
  SELECT ROW(CASE WHEN value IS NULL THEN 'absent' ELSE 'found' END, coalesce((f).sequence, 0),
             coalesce(version, 0), coalesce((f).written, 0), coalesce((f).written_sequence, 0),
             value, NULL, true)::holdfast.reply
$$;

CREATE FUNCTION holdfast.store_get(of_space text, of_key text)
RETURNS holdfast.reply LANGUAGE plpgsql VOLATILE
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  r record;
BEGIN
  SELECT s.version, s.fence,
         CASE WHEN s.expires <= clock_timestamp() THEN NULL ELSE s.value END AS value
    INTO r FROM holdfast.store s WHERE s.space = of_space AND s.key = of_key;
  RETURN holdfast.entry(r.version, r.fence, r.value);
END $$;

-- applied, version, 0; or unchanged, 0, 0 when there was nothing to erase. No value: erase.
CREATE FUNCTION holdfast.store_put(of_space text, of_key text, new_value bytea, expected numeric,
                                   request bigint, age bigint)
RETURNS holdfast.reply LANGUAGE plpgsql VOLATILE
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  r record;
  actual bigint;
  known boolean;
  answer holdfast.reply;
BEGIN
  LOOP
    SELECT s.version, s.fence, s.done,
           s.value IS NOT NULL AND coalesce(s.expires > clock_timestamp(), true) AS present
      INTO r FROM holdfast.store s WHERE s.space = of_space AND s.key = of_key FOR UPDATE;
    known := FOUND;
    answer := holdfast.done_before(r.done, request);
    IF answer.word IS NOT NULL THEN
      RETURN answer;
    END IF;
    IF (r.fence).domain IS NOT NULL THEN
      RETURN holdfast.refused(
        holdfast.refuse('wrong_domain', 'the key is fenced by the lock ' || (r.fence).domain),
        r.done, age);
    END IF;
    actual := CASE WHEN r.present THEN r.version ELSE 0 END;
    IF expected <> actual THEN
      RETURN holdfast.refused(
        holdfast.refuse('version_conflict',
                        'the key is at version ' || actual || ', not at ' || expected, actual),
        r.done, age);
    END IF;
    IF actual = 0 AND new_value IS NULL THEN
      RETURN ROW('unchanged', 0, 0, 0, 0, NULL, NULL, true)::holdfast.reply;
    END IF;
    IF known THEN
      RETURN holdfast.change(of_space, of_key, r.version, NULL, new_value, NULL, request);
    END IF;
    PERFORM holdfast.make_row(of_space, of_key);
  END LOOP;
END $$;
)sql";

}  // namespace holdfast::postgres::sql
