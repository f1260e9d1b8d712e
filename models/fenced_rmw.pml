/* A resource fenced by the tokens of a lock, and the sections that read, compute and write it.
 *
 * Nothing is assumed of the lock: sections overlap as they like, and each of their steps may come
 * at any time. A step is a request that arrives at the resource. Writes count: each adds one to the
 * value its section knows. Whatever was sent may arrive again, any number of times, also before the
 * sender's own step and after the sender is done.
 *
 * Each section is a writer (exclusive) or a reader (shared), in every combination. One decision of
 * src/core/fence.cc with its effect is one step. The broken variants (#ifdef) are listed in
 * docs/internals/store_model.md.
 *
 * -DTWINS        a token may have been minted twice
 * -DINORDER      a section begins only after the one before has read
 * -DSTRICT       the policy of one write per token
 * -DVALUES_ONLY  only what is stored and read is asserted, not who is let in
 */

#ifndef SECTIONS
#define SECTIONS 3
#endif
#define WRITES 2

byte token[SECTIONS];
byte exclusive;  /* the set of writers */

#define ONLY(h) (1 << (h))
#define IS_IN(set, h) (((set) & ONLY(h)) != 0)

/* What the resource keeps. The owner of a mark is the section that made it. */
byte value;
byte x_token, x_owner;  /* the highest exclusive token opened */
byte a_token, a_owner;  /* the highest of any mode */
byte sequence;          /* of the last write under x_token */
byte written;           /* the last token that wrote */

#ifdef NO_OWNER
#define X_IS(h) (x_token == token[h])
#define A_IS(h) (a_token == token[h])
#else
#define X_IS(h) (x_token == token[h] && x_owner == (h))
#define A_IS(h) (a_token == token[h] && a_owner == (h))
#endif

/* What has been sent and may still arrive. */
byte asked;                          /* the set of sections that sent an open */
byte sent[SECTIONS];                 /* how many writes */
byte sent_value[SECTIONS * WRITES];
#define SENT_VALUE(h, s) sent_value[(h) * WRITES + (s) - 1]

/* What the properties are about. */
byte accepted;           /* writes that were answered with success, each counted once */
byte answered[SECTIONS]; /* up to which of a section's writes they are counted */
byte begun;              /* sections of which something was accepted */
byte sealed;             /* writers that a reader came after */
byte over;               /* sections that a writer came after */
byte spent;              /* tokens that changed the value */
byte started;            /* sections that have tried to read */

#ifdef VALUES_ONLY
#define IN_TURN(claim) 1
#else
#define IN_TURN(claim) (claim)
#endif

/* Something of section h is accepted: it must still be its turn. A writer whose turn was ended by a
 * reader may go on reading what it would have read before. */
inline accept(h) {
  assert(IN_TURN(!IS_IN(over, h)));
  if
  :: !IS_IN(exclusive, h) -> sealed = sealed | (begun & exclusive);
  :: IS_IN(exclusive, h) && !IS_IN(sealed, h) -> over = over | (begun & ~ONLY(h));
  :: else -> skip;
  fi;
  begun = begun | ONLY(h);
}

inline decide_open(h) {
  if
  :: IS_IN(exclusive, h) && token[h] > a_token ->
    x_token = token[h]; x_owner = h;
    a_token = token[h]; a_owner = h;
    sequence = 0;
    ok = 1;
  :: IS_IN(exclusive, h) && token[h] <= a_token -> ok = A_IS(h) && X_IS(h);
  :: !IS_IN(exclusive, h) && token[h] > a_token ->
#ifndef READERS_DO_NOT_MARK
    a_token = token[h]; a_owner = h;
#endif
    ok = 1;
  :: else -> ok = token[h] > x_token && (token[h] < a_token || A_IS(h));
  fi;
}

#if defined(READERS_DO_NOT_MARK)
#define READER_MAY_READ(h) (token[h] > x_token)
#elif defined(READERS_LOCK_OUT)
#define READER_MAY_READ(h) A_IS(h)
#else
#define READER_MAY_READ(h) (A_IS(h) || (token[h] > x_token && token[h] < a_token))
#endif

#define MAY_READ(h) (IS_IN(exclusive, h) -> X_IS(h) : READER_MAY_READ(h))

/* Here and below: whoever has opened is refused only because of somebody newer. */
inline open(h) {
  decide_open(h);
  if
  :: ok -> accept(h);
  :: else -> assert(IN_TURN(!IS_IN(begun, h) || a_token > token[h]));
  fi;
}

/* Opens the resource for a section that has not done so. */
inline read(h, seen) {
  ok = MAY_READ(h);
  if
  :: !ok && !IS_IN(begun, h) -> decide_open(h);
  :: else -> skip;
  fi;
  if
  :: ok -> accept(h); seen = value;
  :: else -> assert(IN_TURN(!IS_IN(begun, h) || x_token > token[h]));
  fi;
}

#if defined(STRICT_LOOSE)
#define WRITTEN_OUT(h) (token[h] < x_token)
#elif defined(STRICT_TIGHT)
#define WRITTEN_OUT(h) (token[h] <= x_token)
#else
#define WRITTEN_OUT(h) (token[h] == written)
#endif

/* The one other reason to refuse whoever has opened. */
#ifdef STRICT
#define MAY_BE_SPENT (s > 1)
#else
#define MAY_BE_SPENT 0
#endif

/* ok: answered with success; new: and the value is to change. */
inline decide_write(h, s, result) {
  decide_open(h);
  new = 0;
  if
  :: !ok -> skip;
#ifdef TOKEN_ONLY
  :: else -> new = 1;
#else
  :: ok && s == sequence -> ok = (value == result);
  :: ok && s < sequence -> ok = 0;
#ifdef STRICT
  :: ok && s > sequence && WRITTEN_OUT(h) -> ok = 0;
#endif
  :: else -> new = 1;
#endif
  fi;
}

inline change(h, s, result) {
  if
  :: new ->
    value = result;
    sequence = s;
    written = token[h];
#ifdef STRICT
    assert(!IS_IN(spent, token[h]));
#endif
    spent = spent | ONLY(token[h]);
    new = 0;
  :: else -> skip;
  fi;
  if
  :: ok ->
    assert(IN_TURN(!IS_IN(sealed, h)));
    accept(h);
    if
    :: s > answered[h] -> answered[h] = s; accepted++;
    :: else -> skip;
    fi;
    assert(value == accepted);
  :: else -> skip;
  fi;
}

proctype Writer(byte h) {
  byte known, s;
  bit ok = 1, new;

#ifdef INORDER
  h == 0 || IS_IN(started, h - 1);
#endif
#ifndef UNGUARDED_READ
  asked = asked | ONLY(h);
  if
  :: d_step { open(h); }
  :: skip;  /* the first read opens */
  fi;
#endif
  do
  :: ok && s < WRITES ->
    s++;
    if
    :: d_step {
#ifdef UNGUARDED_READ
        known = value;
#else
        read(h, known);
#endif
        started = started | ONLY(h);
      }
    :: s > 1 -> skip;  /* it knows what it wrote */
    fi;
    if
    :: ok ->
      d_step {
        known++;
        sent[h] = s;
        SENT_VALUE(h, s) = known;
      }
#ifdef CHECK_APART
      d_step { decide_write(h, s, known); }
      d_step { change(h, s, known); }
#else
      d_step {
        decide_write(h, s, known);
        change(h, s, known);
        assert(IN_TURN(ok || !IS_IN(begun, h) || a_token > token[h] || MAY_BE_SPENT));
      }
#endif
    :: else -> skip;
    fi;
  :: else -> break;
  od;
}

proctype Reader(byte h) {
  byte first, second;
  bit ok = 1;

#ifdef INORDER
  h == 0 || IS_IN(started, h - 1);
#endif
  asked = asked | ONLY(h);
  if
  :: d_step { open(h); }
  :: skip;
  fi;
  d_step {
    if
    :: ok -> read(h, first);
    :: else -> skip;
    fi;
    started = started | ONLY(h);
  }
  d_step {
    if
    :: ok -> read(h, second);
    :: else -> skip;
    fi;
    assert(!ok || first == second);
    first = 0; second = 0;
  }
}

/* What was sent arrives again. Nobody hears the answer. */
proctype Network() {
  byte h, s;
  bit ok, new;

end:
  do
  :: atomic {
      h < SECTIONS;
      do
      :: h < SECTIONS - 1 -> h++;
      :: break;
      od;
      if
      :: IS_IN(asked, h) -> d_step { open(h); }
      :: sent[h] > 0 ->
        s = 1;
        if
        :: sent[h] > 1 -> s = sent[h];
        :: skip;
        fi;
        d_step { decide_write(h, s, SENT_VALUE(h, s)); change(h, s, SENT_VALUE(h, s)); }
      :: else -> skip;
      fi;
      d_step { h = 0; s = 0; ok = 0; new = 0; }
    }
  od;
}

init {
  byte h;

  atomic {
    do
    :: h < SECTIONS ->
      token[h] = h + 1;
#ifdef TWINS
      if
      :: h > 0 -> token[h] = token[h - 1];
      :: skip;
      fi;
#endif
      if
      :: exclusive = exclusive | ONLY(h); run Writer(h);
      :: run Reader(h);
      fi;
      h++;
    :: else -> break;
    od;
    run Network();
    h = 0;
  }
}
