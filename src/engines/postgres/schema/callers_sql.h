// For programs in any language, inside their own transactions: the fence, a trigger that asks it,
// locks that end with the transaction, and what is done once.
//
// The fence is that of the store's resource of the same name; its row stays locked until the
// transaction ends. A refusal is an error with a SQLSTATE of its own: HF001 a stale token, HF002
// another lock's resource, HF003 a wrong argument, HF004 a write without a token. DETAIL of HF001
// has both tokens: `yours=33 highest=34`.

#pragma once

#include <string_view>

namespace holdfast::postgres::sql {

inline constexpr std::string_view kCallersFence = R"sql(
CREATE FUNCTION holdfast.raise(d holdfast.decision) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF d.code = 'stale_token' THEN
    RAISE EXCEPTION USING ERRCODE = 'HF001', MESSAGE = d.message,
      DETAIL = format('yours=%s highest=%s', d.yours, d.highest),
      HINT = CASE WHEN d.highest = 0 THEN 'open the resource with this token before the first read'
                  ELSE 'another holder has taken over: stop' END;
  ELSIF d.code = 'wrong_domain' THEN
    RAISE EXCEPTION USING ERRCODE = 'HF002', MESSAGE = d.message,
      HINT = 'use that lock, or move the resource with `holdfast store rebase`';
  END IF;
  RAISE EXCEPTION USING ERRCODE = 'HF003', MESSAGE = d.message;
END $$;

-- Registers a token before the first read. Answers the sequence of its last operation.
CREATE FUNCTION holdfast.fence_open(resource text, token bigint, owner text, mode text,
                                    domain text, policy text)
RETURNS bigint LANGUAGE plpgsql VOLATILE
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  known text;
  d holdfast.decision;
BEGIN
  IF token IS NULL OR token NOT BETWEEN 1 AND 9007199254740991 THEN
    d := holdfast.refuse('invalid_argument', 'the token is out of range');
  ELSIF coalesce(octet_length(resource), 0) NOT BETWEEN 1 AND 1024 THEN
    d := holdfast.refuse('invalid_argument', 'the resource has no name, or too long a one');
  ELSIF mode IS NULL OR mode NOT IN ('exclusive', 'shared') THEN
    d := holdfast.refuse('invalid_argument', 'the mode is neither exclusive nor shared');
  ELSIF policy NOT IN ('many', 'strict') THEN
    d := holdfast.refuse('invalid_argument', 'the policy is neither many nor strict');
  ELSE
    PERFORM holdfast.make_row('value', resource);
    SELECT (s.fence).domain INTO known FROM holdfast.store s
     WHERE s.space = 'value' AND s.key = resource FOR UPDATE;
    d := holdfast.enter('value', resource,
                        ROW(coalesce(domain, known, ''), mode, token,
                            coalesce(owner, ''))::holdfast.caller, policy);
  END IF;
  IF d.code IS NOT NULL THEN
    PERFORM holdfast.raise(d);
  END IF;
  RETURN (d.fence).sequence;
END $$;

-- Before a write, in its transaction. `applied`: go on. `duplicate`: this operation was done, and
-- committed, before: change nothing. Without an owner, that of the token that opened counts;
-- without a number, it is the next operation.
CREATE FUNCTION holdfast.fence_check(resource text, token bigint, number bigint, owner text)
RETURNS text LANGUAGE plpgsql VOLATILE
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  f holdfast.fence;
  d holdfast.decision;
BEGIN
  IF current_setting('synchronous_commit') = 'off' THEN
    PERFORM holdfast.make_durable();
  END IF;
  UPDATE holdfast.store s
     SET fence.sequence = coalesce(number, (s.fence).sequence + 1), fence.written = token,
         fence.written_sequence = coalesce(number, (s.fence).sequence + 1)
   WHERE s.space = 'value' AND s.key = resource AND s.forget IS NULL
     AND (s.fence).exclusive = token AND (s.fence).newest = token
     AND coalesce((s.fence).exclusive_owner = owner, true)
     AND coalesce(number, (s.fence).sequence + 1) > (s.fence).sequence
     AND coalesce(number, (s.fence).sequence + 1) <= 9007199254740991
     AND NOT ((s.fence).policy = 'strict' AND (s.fence).written = token);
  IF FOUND THEN
    RETURN 'applied';
  END IF;
  SELECT (s.fence).* INTO f FROM holdfast.store s
   WHERE s.space = 'value' AND s.key = resource FOR UPDATE;
  d := holdfast.decide_write(f, ROW(f.domain, 'exclusive', token,
                                    coalesce(owner, f.newest_owner, ''))::holdfast.caller,
                             true, number, true);
  IF d.code IS NOT NULL THEN
    PERFORM holdfast.raise(d);
  ELSIF d.duplicate THEN
    RETURN 'duplicate';
  END IF;
  PERFORM holdfast.save_fence('value', resource, d.fence);
  RETURN 'applied';
END $$;

-- Refuses unless the settings holdfast.token and, where given, holdfast.owner are those of the
-- newest holder of the resource.
CREATE FUNCTION holdfast.fence_guard(resource text)
RETURNS void LANGUAGE plpgsql VOLATILE
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  token bigint := nullif(current_setting('holdfast.token', true), '');
  owner text := nullif(current_setting('holdfast.owner', true), '');
  f holdfast.fence;
  d holdfast.decision;
BEGIN
  IF token IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'HF004',
      MESSAGE = format('a write to %s has no token', resource),
      HINT = 'SET LOCAL holdfast.token = ''N'' in the same transaction';
  END IF;
  SELECT (s.fence).* INTO f FROM holdfast.store s
   WHERE s.space = 'value' AND s.key = resource FOR SHARE;
  d := holdfast.decide_writer(f, ROW(f.domain, 'exclusive', token,
                                     coalesce(owner, f.newest_owner, ''))::holdfast.caller, true);
  IF d.code IS NOT NULL THEN
    PERFORM holdfast.raise(d);
  END IF;
END $$;

CREATE FUNCTION holdfast.fence_rows() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF TG_NARGS = 1 THEN
    PERFORM holdfast.fence_guard(TG_ARGV[0]);
  ELSIF TG_NARGS = 2 AND TG_LEVEL = 'ROW' THEN
    IF TG_OP <> 'INSERT' THEN
      PERFORM holdfast.fence_guard(TG_ARGV[0] || (to_jsonb(OLD) ->> TG_ARGV[1]));
    END IF;
    IF TG_OP = 'INSERT' OR (TG_OP = 'UPDATE' AND to_jsonb(OLD) -> TG_ARGV[1]
                            IS DISTINCT FROM to_jsonb(NEW) -> TG_ARGV[1]) THEN
      PERFORM holdfast.fence_guard(TG_ARGV[0] || (to_jsonb(NEW) ->> TG_ARGV[1]));
    END IF;
  ELSE
    RAISE EXCEPTION USING ERRCODE = 'HF003', MESSAGE = 'the trigger takes a resource, or, FOR EACH '
      'ROW, the beginning of its name and the column that ends it';
  END IF;
  IF TG_OP = 'DELETE' THEN
    RETURN OLD;
  END IF;
  RETURN NEW;
END $$;
)sql";

inline constexpr std::string_view kCallersOnce = R"sql(
CREATE TABLE holdfast.once (
  key text COLLATE "C" PRIMARY KEY,
  status integer,                      -- NULL only within the transaction that runs it
  result bytea,
  expires timestamptz NOT NULL
);
CREATE INDEX once_expires ON holdfast.once (expires);

-- At the end of a transaction: what was begun in it has a result.
CREATE FUNCTION holdfast.once_settled() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT FROM holdfast.once o WHERE o.key = NEW.key AND o.status IS NULL) THEN
    RAISE EXCEPTION USING ERRCODE = 'HF003',
      MESSAGE = format('%s was begun and has no result', NEW.key);
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER once_settled AFTER INSERT OR UPDATE ON holdfast.once
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION holdfast.once_settled();

-- Waits while another transaction runs the same key. NULL: it is ours to run, and to settle in this
-- transaction; else the result it had.
CREATE FUNCTION holdfast.once_begin(of_key text, keep_ms bigint, OUT status integer,
                                    OUT result bytea)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  until timestamptz;
BEGIN
  LOOP
    until := clock_timestamp() + keep_ms * interval '1 millisecond';
    INSERT INTO holdfast.once AS o (key, expires) VALUES (of_key, until)
    ON CONFLICT (key) DO UPDATE SET status = NULL, result = NULL, expires = until
     WHERE o.expires <= clock_timestamp();
    EXIT WHEN FOUND;
    SELECT o.status, o.result INTO once_begin.status, once_begin.result FROM holdfast.once o
     WHERE o.key = of_key;
    IF FOUND THEN
      IF once_begin.status IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'HF003',
          MESSAGE = format('%s is being run in this transaction already', of_key);
      END IF;
      RETURN;
    END IF;
  END LOOP;
  PERFORM holdfast.make_durable();
  DELETE FROM holdfast.once WHERE ctid = ANY (ARRAY(
    SELECT o.ctid FROM holdfast.once o WHERE o.expires < clock_timestamp() AND o.key <> of_key
     ORDER BY o.expires LIMIT 4 FOR UPDATE SKIP LOCKED));
END $$;

CREATE FUNCTION holdfast.once_settle(of_key text, with_status integer, with_result bytea)
RETURNS void LANGUAGE plpgsql VOLATILE
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE holdfast.once o SET status = with_status, result = with_result
   WHERE o.key = of_key AND o.status IS NULL;
  IF NOT FOUND THEN
    RAISE EXCEPTION USING ERRCODE = 'HF003',
      MESSAGE = format('%s is not being run in this transaction', of_key);
  END IF;
END $$;
)sql";

inline constexpr std::string_view kCallersLock = R"sql(
-- Locks the advisory key until the transaction ends. A wait of 0 does not wait, NULL has no end.
-- Answers a token, or NULL when another has it.
CREATE OR REPLACE FUNCTION holdfast.lock_xact(wanted bigint, shared boolean, wait_ms integer)
RETURNS bigint LANGUAGE plpgsql VOLATILE
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  before text := current_setting('lock_timeout');
BEGIN
  IF wait_ms = 0 THEN
    IF NOT (CASE WHEN shared THEN pg_try_advisory_xact_lock_shared(wanted)
                 ELSE pg_try_advisory_xact_lock(wanted) END) THEN
      RETURN NULL;
    END IF;
    RETURN holdfast.mint_ahead();
  END IF;
  BEGIN
    PERFORM set_config('lock_timeout', coalesce(wait_ms, 0)::text, true);
    IF shared THEN
      PERFORM pg_advisory_xact_lock_shared(wanted);
    ELSE
      PERFORM pg_advisory_xact_lock(wanted);
    END IF;
    PERFORM set_config('lock_timeout', before, true);
  EXCEPTION WHEN lock_not_available THEN
    -- What was locked within the block is not any more, and the setting is as it was.
    RETURN NULL;
  END;
  RETURN holdfast.mint_ahead();
END $$;
)sql";

inline constexpr std::string_view kNames = R"sql(
-- Where the functions have names that need no schema.
CREATE TABLE holdfast.exposed (schema name PRIMARY KEY);

CREATE FUNCTION holdfast.expose(into_schema name) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  EXECUTE format($f$
    CREATE OR REPLACE FUNCTION %1$I.holdfast_open(
      resource text, token bigint, owner text DEFAULT NULL, mode text DEFAULT 'exclusive',
      domain text DEFAULT NULL, policy text DEFAULT NULL)
    RETURNS bigint LANGUAGE sql VOLATILE AS
    'SELECT holdfast.fence_open(resource, token, owner, mode, domain, policy)'
  $f$, into_schema);
  EXECUTE format($f$
    CREATE OR REPLACE FUNCTION %1$I.holdfast_check(
      resource text, token bigint, seq bigint DEFAULT NULL, owner text DEFAULT NULL)
    RETURNS text LANGUAGE sql VOLATILE AS
    'SELECT holdfast.fence_check(resource, token, seq, owner)'
  $f$, into_schema);
  EXECUTE format($f$
    CREATE OR REPLACE FUNCTION %1$I.holdfast_fence() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS %2$L
  $f$, into_schema, (SELECT prosrc FROM pg_proc WHERE oid = 'holdfast.fence_rows()'::regprocedure));
  INSERT INTO holdfast.exposed VALUES (into_schema) ON CONFLICT DO NOTHING;
END $$;

-- Fails while a trigger of somebody's stands on it.
CREATE FUNCTION holdfast.conceal() RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  of_schema name;
BEGIN
  FOR of_schema IN SELECT schema FROM holdfast.exposed LOOP
    EXECUTE format('DROP FUNCTION IF EXISTS %1$I.holdfast_open, %1$I.holdfast_check, '
                   '%1$I.holdfast_fence', of_schema);
  END LOOP;
  DELETE FROM holdfast.exposed;
END $$;

-- `rights`: application, or operator, who may also take locks and resources away from others.
CREATE FUNCTION holdfast.grant_to(grantee name, rights text) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  f regprocedure;
BEGIN
  EXECUTE format('GRANT USAGE ON SCHEMA holdfast TO %I', grantee);
  EXECUTE format('GRANT SELECT ON holdfast.version TO %I', grantee);
  FOR f IN SELECT p.oid FROM pg_proc p
            WHERE p.pronamespace = 'holdfast'::regnamespace
              AND p.proname NOT IN ('expose', 'conceal', 'grant_to')
              AND (rights = 'operator' OR
                   p.proname NOT IN ('break', 'store_rebase')) LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', f, grantee);
  END LOOP;
END $$;
)sql";

}  // namespace holdfast::postgres::sql
