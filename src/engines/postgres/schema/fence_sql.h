// The fence in SQL: what core/fence.h decides, as pure functions of the database. A test runs both
// side by side.
//
// A decision without a code lets the holder pass and says what to remember; one with a code is a
// refusal, and nothing is to change.

#pragma once

#include <string_view>

namespace holdfast::postgres::sql {

inline constexpr std::string_view kFence = R"sql(
CREATE TYPE holdfast.caller AS (domain text, mode text, token bigint, owner text);
CREATE TYPE holdfast.fence AS (
  domain text, policy text,
  exclusive bigint, exclusive_owner text,  -- the highest exclusive token that opened
  newest bigint, newest_owner text,        -- the highest of any mode
  sequence bigint,                         -- of the last operation under the exclusive token
  written bigint, written_sequence bigint  -- the last token that wrote, and its last write
);
CREATE TYPE holdfast.decision AS (
  fence holdfast.fence, duplicate boolean,
  code text, message text, yours bigint, highest bigint
);

CREATE FUNCTION holdfast.refuse(code text, message text, yours bigint DEFAULT 0,
                                highest bigint DEFAULT 0)
RETURNS holdfast.decision LANGUAGE sql IMMUTABLE AS $$
  SELECT ROW(NULL, false, code, message, yours, highest)::holdfast.decision
$$;

CREATE FUNCTION holdfast.refuse_overtaken(h holdfast.caller, highest bigint)
RETURNS holdfast.decision LANGUAGE sql IMMUTABLE AS $$
  SELECT holdfast.refuse('stale_token', 'token ' || (h).token ||
                         ' is stale: the resource has seen ' || highest, (h).token, highest)
$$;

CREATE FUNCTION holdfast.refuse_another_owner(h holdfast.caller)
RETURNS holdfast.decision LANGUAGE sql IMMUTABLE AS $$
  SELECT holdfast.refuse('stale_token', 'token ' || (h).token || ' belongs to another owner',
                         (h).token, (h).token)
$$;

CREATE FUNCTION holdfast.refuse_another_mode(h holdfast.caller)
RETURNS holdfast.decision LANGUAGE sql IMMUTABLE AS $$
  SELECT holdfast.refuse('invalid_argument',
                         'token ' || (h).token || ' opened the resource in another mode')
$$;

CREATE FUNCTION holdfast.refuse_forgotten(h holdfast.caller)
RETURNS holdfast.decision LANGUAGE sql IMMUTABLE AS $$
  SELECT holdfast.refuse('stale_token', 'the resource no longer knows token ' || (h).token ||
                         ': it was removed since it was opened', (h).token)
$$;

CREATE FUNCTION holdfast.refuse_domain(f holdfast.fence, h holdfast.caller)
RETURNS holdfast.decision LANGUAGE sql IMMUTABLE AS $$
  SELECT holdfast.refuse('wrong_domain', 'the resource belongs to the lock ' || (f).domain ||
                         ', not to ' || (h).domain)
$$;

CREATE FUNCTION holdfast.open_exclusive(f holdfast.fence, h holdfast.caller)
RETURNS holdfast.decision LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF h.token < f.newest THEN
    RETURN holdfast.refuse_overtaken(h, f.newest);
  END IF;
  IF h.token = f.newest THEN
    IF h.owner <> f.newest_owner THEN
      RETURN holdfast.refuse_another_owner(h);
    END IF;
    IF h.token <> f.exclusive OR h.owner <> f.exclusive_owner THEN
      RETURN holdfast.refuse_another_mode(h);
    END IF;
  ELSE
    f.exclusive := h.token;
    f.exclusive_owner := h.owner;
    f.newest := h.token;
    f.newest_owner := h.owner;
    f.sequence := 0;
  END IF;
  RETURN ROW(f, false, NULL, NULL, 0, 0)::holdfast.decision;
END $$;

CREATE FUNCTION holdfast.open_shared(f holdfast.fence, h holdfast.caller)
RETURNS holdfast.decision LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF h.token < f.exclusive THEN
    RETURN holdfast.refuse_overtaken(h, f.exclusive);
  END IF;
  IF h.token = f.exclusive THEN
    IF h.owner <> f.exclusive_owner THEN
      RETURN holdfast.refuse_another_owner(h);
    END IF;
    RETURN holdfast.refuse_another_mode(h);
  END IF;
  IF h.token = f.newest AND h.owner <> f.newest_owner THEN
    RETURN holdfast.refuse_another_owner(h);
  END IF;
  IF h.token > f.newest THEN
    f.newest := h.token;
    f.newest_owner := h.owner;
  END IF;
  RETURN ROW(f, false, NULL, NULL, 0, 0)::holdfast.decision;
END $$;

-- The fence is NULL for a resource that belongs to no lock yet; `policy` is NULL, many or strict.
CREATE FUNCTION holdfast.decide_open(f holdfast.fence, h holdfast.caller, policy text)
RETURNS holdfast.decision LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF f.domain IS NULL THEN
    f := ROW(h.domain, coalesce(policy, 'many'), 0, '', 0, '', 0, 0, 0)::holdfast.fence;
  END IF;
  IF f.domain <> h.domain THEN
    RETURN holdfast.refuse_domain(f, h);
  END IF;
  IF policy <> f.policy THEN
    RETURN holdfast.refuse('invalid_argument', 'the resource has the other write policy');
  END IF;
  IF h.mode = 'exclusive' THEN
    RETURN holdfast.open_exclusive(f, h);
  END IF;
  RETURN holdfast.open_shared(f, h);
END $$;

-- An older shared token cannot be told from one that never opened: the newest only is remembered,
-- and reading harms nobody.
CREATE FUNCTION holdfast.may_read(f holdfast.fence, h holdfast.caller)
RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN (h).mode = 'exclusive'
              THEN (f).exclusive = (h).token AND (f).exclusive_owner = (h).owner
              ELSE ((f).newest = (h).token AND (f).newest_owner = (h).owner) OR
                   ((h).token > (f).exclusive AND (h).token < (f).newest) END
$$;

CREATE FUNCTION holdfast.decide_read(f holdfast.fence, h holdfast.caller, opened boolean)
RETURNS holdfast.decision LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  lets boolean := f.domain IS NOT NULL AND holdfast.may_read(f, h);
BEGIN
  IF NOT opened AND NOT lets THEN
    RETURN holdfast.decide_open(f, h, NULL);
  END IF;
  IF f.domain IS NULL THEN
    RETURN holdfast.refuse_forgotten(h);
  END IF;
  IF f.domain <> h.domain THEN
    RETURN holdfast.refuse_domain(f, h);
  END IF;
  IF lets THEN
    RETURN ROW(f, false, NULL, NULL, 0, 0)::holdfast.decision;
  END IF;
  IF h.token < f.exclusive THEN
    RETURN holdfast.refuse_overtaken(h, f.exclusive);
  END IF;
  IF h.token = f.exclusive THEN
    RETURN holdfast.refuse_another_owner(h);
  END IF;
  RETURN holdfast.refuse_forgotten(h);
END $$;

-- `number` may be NULL: the next one. `leaves_the_same`: it may be the last operation again.
CREATE FUNCTION holdfast.next_operation(f holdfast.fence, h holdfast.caller, number numeric,
                                        leaves_the_same boolean)
RETURNS holdfast.decision LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  next numeric := coalesce(number, f.sequence + 1);
BEGIN
  IF next > 9007199254740991 THEN
    RETURN holdfast.refuse('invalid_argument', 'sequence ' || next || ' is out of range');
  END IF;
  IF next = f.sequence THEN
    IF leaves_the_same THEN
      RETURN ROW(f, true, NULL, NULL, 0, 0)::holdfast.decision;
    END IF;
    RETURN holdfast.refuse('invalid_argument', 'sequence ' || next || ' was another operation');
  END IF;
  IF next < f.sequence THEN
    RETURN holdfast.refuse('stale_token', 'sequence ' || next || ' is older than ' || f.sequence ||
                           ', the last one done under token ' || h.token, h.token, f.exclusive);
  END IF;
  IF f.policy = 'strict' AND f.written = h.token THEN
    RETURN holdfast.refuse('stale_token', 'token ' || h.token ||
                           ' has written already, and the resource allows one write per token',
                           h.token, f.written);
  END IF;
  f.sequence := next;
  f.written := h.token;
  f.written_sequence := next;
  RETURN ROW(f, false, NULL, NULL, 0, 0)::holdfast.decision;
END $$;

-- Whether it may write at all.
CREATE FUNCTION holdfast.decide_writer(f holdfast.fence, h holdfast.caller, opened boolean)
RETURNS holdfast.decision LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF opened THEN
    IF f.domain IS NULL THEN
      RETURN holdfast.refuse_forgotten(h);
    END IF;
    IF f.domain <> h.domain THEN
      RETURN holdfast.refuse_domain(f, h);
    END IF;
    IF h.token > f.newest THEN
      RETURN holdfast.refuse_forgotten(h);
    END IF;
  END IF;
  RETURN holdfast.decide_open(f, h, NULL);
END $$;

CREATE FUNCTION holdfast.decide_write(f holdfast.fence, h holdfast.caller, opened boolean,
                                      number numeric, leaves_the_same boolean)
RETURNS holdfast.decision LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  d holdfast.decision;
BEGIN
  IF h.mode <> 'exclusive' THEN
    RETURN holdfast.refuse('invalid_argument', 'a shared lease may only read');
  END IF;
  IF number = 0 THEN
    RETURN holdfast.refuse('invalid_argument', 'sequence 0 is the open');
  END IF;
  d := holdfast.decide_writer(f, h, opened);
  IF d.code IS NOT NULL THEN
    RETURN d;
  END IF;
  RETURN holdfast.next_operation(d.fence, h, number, leaves_the_same);
END $$;
)sql";

}  // namespace holdfast::postgres::sql
