// Rate limits in SQL: how far ahead keys are (core/gcra.h), by the database's clock.
//
// The table is not logged, so that no decision waits for a disk: after a crash or at a promoted
// replica keys begin with their whole burst. The time after which a row may go is coarse and seldom
// changes, so that an update seldom touches an index.

#pragma once

#include <string_view>

namespace holdfast::postgres::sql {

inline constexpr std::string_view kLimits = R"sql(
CREATE UNLOGGED TABLE holdfast.limits (
  key text COLLATE "C" PRIMARY KEY,
  at timestamptz NOT NULL,
  ahead bigint NOT NULL,               -- nanoseconds, at that time
  forget timestamptz NOT NULL          -- from then on the row may go
) WITH (fillfactor = 50);
CREATE INDEX limits_forget ON holdfast.limits (forget);

CREATE FUNCTION holdfast.forget_limits() RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  DELETE FROM holdfast.limits WHERE ctid = ANY (ARRAY(
    SELECT l.ctid FROM holdfast.limits l WHERE l.forget < clock_timestamp()
     ORDER BY l.forget LIMIT 4 FOR UPDATE SKIP LOCKED));
END $$;

-- Times in nanoseconds. Answers whether the permits were granted, and how far ahead the key was.
CREATE FUNCTION holdfast.take(of_key text, tolerance bigint, cost bigint, patience bigint,
                              OUT granted boolean, OUT was bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  known holdfast.limits;
  moment timestamptz;
BEGIN
  LOOP
    SELECT * INTO known FROM holdfast.limits l WHERE l.key = of_key FOR UPDATE;
    EXIT WHEN FOUND;
    moment := clock_timestamp();
    INSERT INTO holdfast.limits VALUES (of_key, moment, 0, moment + interval '10 minutes')
      ON CONFLICT DO NOTHING;
    PERFORM holdfast.forget_limits();
  END LOOP;
  -- Read once it is this one's turn.
  moment := clock_timestamp();
  was := greatest(0, known.ahead -
    greatest(0, (extract(epoch FROM moment - known.at) * 1000000)::bigint * 1000));
  granted := was + cost - tolerance <= patience;
  IF granted OR moment < known.at THEN
    known.ahead := was + CASE WHEN granted THEN cost ELSE 0 END;
    UPDATE holdfast.limits l
       SET at = moment, ahead = known.ahead,
           forget = to_timestamp(600 * (2 + floor(
             (extract(epoch FROM moment) + known.ahead / 1000000000) / 600)))
     WHERE l.key = of_key;
  END IF;
END $$;
)sql";

/// Makes version 3 of version 2: the same, for whoever may use locks already.
inline constexpr std::string_view kLimitsStep = R"sql(
EXECUTE (
  SELECT coalesce(string_agg(format(
      'GRANT EXECUTE ON FUNCTION holdfast.take, holdfast.forget_limits TO %s',
      who.grantee::regrole), '; '), 'SELECT')
    FROM (SELECT DISTINCT rights.grantee FROM pg_proc p, aclexplode(p.proacl) rights
           WHERE p.pronamespace = 'holdfast'::regnamespace AND p.proname = 'acquire'
             AND rights.grantee NOT IN (0, p.proowner)) who);
)sql";

}  // namespace holdfast::postgres::sql
