/* Tokens for Redlock: independent nodes count, and a majority of them makes a token.
 *
 * Phase 1 asks every node for the lock. A node that grants it counts, keeps the count with the lock
 * ("grant") and answers with it. The token is the highest answer of a majority. Phase 2 asks the
 * nodes to agree: a node does, and counts on from the token, if the lock is still this attempt's
 * and was granted at the token or below. A node that granted exactly the token has agreed already,
 * so one trip is enough where the counts are equal. An attempt completes when a majority agreed.
 *
 * Nothing is assumed of clocks. A lock may be found expired whenever somebody else asks for it; it
 * has no step of its own, since an expired lock that nobody takes shows itself only in answers that
 * do not come. A release is the same, and so is a crash of a node that keeps its count. A request
 * arrives at any time or never, also when its attempt is long done, and phase 2 as often as it
 * likes; an answer may be late or lost. All attempts are alike, so they begin in the order of their
 * numbers.
 *
 * Asserted: complete(). The worlds and the broken variants (#ifdef, or a number that is too low)
 * are listed in docs/internals/redlock_model.md.
 *
 * -DREPEATS=n      so many phase-1 requests arrive twice
 * -DSKEW=n         the first node may be ahead of the others by up to n
 * -DOTHERS=n       other names use the same counter, n times
 * -DRAISE          an attempt may raise its token to a late answer, once, and begin phase 2 again
 * -DLIVE_COUNT     phase 2 looks at the node's count, not at the grant
 * -DTWO_TRIPS      phase 2 is always asked for
 * -DCOUNT_LATER    phase 1 only reads, and a node agrees only to a token above its count
 * -DRESTART        a node loses all it knew and joins again: after whoever it granted is over, and
 *                  with the highest count of as many others as make a majority
 * -DORDER_ONLY     only the order of tokens is asserted, not that they differ
 */

#ifndef NODES
#define NODES 3
#endif
#ifndef ATTEMPTS
#define ATTEMPTS 2
#endif
#ifndef MAJORITY
#define MAJORITY (NODES / 2 + 1)
#endif
#ifndef REPLIES
#define REPLIES MAJORITY     /* answers that make a token */
#endif
#ifndef AGREEMENTS
#define AGREEMENTS MAJORITY  /* nodes that must agree to it */
#endif
#ifndef ASKED
#define ASKED MAJORITY       /* nodes whose counts a node that lost its own starts from */
#endif
#ifndef REPEATS
#define REPEATS 1
#endif
#ifndef SKEW
#define SKEW 1
#endif
#ifndef OTHERS
#define OTHERS 0
#endif

#define ONLY(x) (1 << (x))
#define IS_IN(set, x) (((set) & ONLY(x)) != 0)
#define MAX(x, y) ((x) > (y) -> (x) : (y))
#define SIZE(set) (IS_IN(set, 0) + IS_IN(set, 1) + IS_IN(set, 2) + IS_IN(set, 3) + IS_IN(set, 4))

typedef Node {
  byte count;
  byte owner;  /* of the lock, expired or not; 0: never taken */
  byte grant;  /* the count at which it was granted */
};

typedef Attempt {
  byte reached;       /* the set of nodes that phase 1 has reached */
  byte reply[NODES];  /* what they answered, for as long as it matters */
  byte token;
  byte agreed;        /* the set of nodes that agreed to it */
  byte floor;         /* the highest token completed before this attempt began */
#ifdef RAISE
  byte raised_from;
#endif
#ifdef CHECK_APART
  byte passed;        /* the set of nodes that have checked, and not yet counted */
#endif
};

Node node[NODES];
Attempt attempt[ATTEMPTS];
byte begun;
byte done;     /* the set of attempts that have completed */
byte over;     /* and with those that have given up */
byte highest;  /* token completed */
byte repeats = REPEATS;
#if OTHERS
byte others = OTHERS;
#endif
byte down = NODES;  /* the node that is away */

#define SOMEBODY_TRIES (over != ONLY(ATTEMPTS) - 1)

#ifdef REUSED_NONCE
#define OWNER(a) 1
#else
#define OWNER(a) ((a) + 1)
#endif

#ifdef OTHER_NODES
#define ASKS(a, i) ((i) >= (a) && (i) < NODES - 1 + (a))
#else
#define ASKS(a, i) 1
#endif

#if defined(NO_OWNER_CHECK) || defined(RETAKE)
#define STILL_ITS_OWN(a, i) 1
#else
#define STILL_ITS_OWN(a, i) (node[i].owner == OWNER(a))
#endif

#if defined(NO_COUNT_CHECK)
#define NOT_ABOVE(i, t) 1
#elif defined(COUNT_LATER)
#define NOT_ABOVE(i, t) (node[i].count < (t))
#elif defined(LIVE_COUNT) || defined(RETAKE)
#define NOT_ABOVE(i, t) (node[i].count <= (t))
#else
#define NOT_ABOVE(i, t) (node[i].grant <= (t))
#endif

#define AGREES(a, i, t) (STILL_ITS_OWN(a, i) && NOT_ABOVE(i, t))

#if defined(TWO_TRIPS) || defined(COUNT_LATER)
#define AGREED_ALREADY(a, i) 0
#else
#define AGREED_ALREADY(a, i) (attempt[a].reply[i] == attempt[a].token)
#endif

#ifdef RAISE
#define WANTS_REPLIES(a) (!IS_IN(over, a) && attempt[a].raised_from == 0)
#else
#define WANTS_REPLIES(a) (!IS_IN(over, a) && attempt[a].token == 0)
#endif

/* Any number up to the last. */
inline pick(x, last) {
  do
  :: x < last -> x++;
  :: break;
  od;
}

inline forget_replies(a) {
  for (i : 0 .. NODES - 1) {
    attempt[a].reply[i] = 0;
  }
  i = 0;
}

/* From here on only its requests are left of it. */
inline leave(a) {
  over = over | ONLY(a);
  attempt[a].floor = 0;
  attempt[a].agreed = 0;
  forget_replies(a);
}

/* Tokens are unique, and rise from an attempt that was done to one that began later. */
inline complete(a) {
#ifdef ORDER_ONLY
  assert(attempt[a].token >= attempt[a].floor);
#else
  assert(attempt[a].token > attempt[a].floor);
  for (i : 0 .. ATTEMPTS - 1) {
    assert(!IS_IN(done, i) || attempt[i].token != attempt[a].token);
  }
#endif
  done = done | ONLY(a);
  highest = MAX(highest, attempt[a].token);
  leave(a);
}

/* Any of the answers may be late. If too few are in time, the attempt waits on. */
inline choose_token(a) {
  for (i : 0 .. NODES - 1) {
    if
    :: attempt[a].reply[i] > 0 -> in_time = in_time | ONLY(i); top = MAX(top, attempt[a].reply[i]);
    :: skip;
    fi;
  }
  d_step {
    if
    :: SIZE(in_time) >= REPLIES ->
      attempt[a].token = top;
      for (i : 0 .. NODES - 1) {
        if
        :: IS_IN(in_time, i) && AGREED_ALREADY(a, i) ->
          attempt[a].agreed = attempt[a].agreed | ONLY(i);
        :: else -> skip;
        fi;
      }
#ifndef RAISE
      forget_replies(a);
#endif
    :: else -> skip;
    fi;
    i = 0; in_time = 0; top = 0;
  }
}

proctype Client(byte a) {
  byte i, top;
  byte in_time;  /* the set of nodes whose answers count */

  d_step {
    begun == a;
    begun++;
    attempt[a].floor = highest;
  }
end:
  do
  :: atomic { attempt[a].token == 0 -> choose_token(a); }
#ifdef RAISE
  :: atomic {
      attempt[a].token > 0 && attempt[a].raised_from == 0 ->
      pick(i, NODES - 1);
      d_step {
        if
        :: attempt[a].reply[i] > attempt[a].token ->
          attempt[a].raised_from = attempt[a].token;
          attempt[a].token = attempt[a].reply[i];
#ifndef KEEP_AGREED
          attempt[a].agreed = 0;
#endif
          forget_replies(a);
        :: else -> skip;
        fi;
        i = 0;
      }
    }
#endif
  :: atomic {
      attempt[a].token > 0 && SIZE(attempt[a].agreed) >= AGREEMENTS ->
      d_step { complete(a); }
      break;
    }
#ifdef RESTART
  :: atomic { d_step { leave(a); } break; }
#endif
  od;
}

/* Of two answers of one node, either may be the late one. */
inline answer(a, i) {
  if
  :: !WANTS_REPLIES(a) -> skip;
  :: WANTS_REPLIES(a) -> attempt[a].reply[i] = node[i].grant;
  :: WANTS_REPLIES(a) && attempt[a].reply[i] > 0 -> skip;
  fi;
}

/* A lock that is in the way may have expired. If it has not, it is as if the request came later. */
inline phase_1(a, i) {
  if
  :: !IS_IN(attempt[a].reached, i) -> attempt[a].reached = attempt[a].reached | ONLY(i);
  :: else -> repeats--;
  fi;
  if
  :: node[i].owner == OWNER(a) -> skip;
  :: true ->
    node[i].owner = OWNER(a);
    node[i].grant = node[i].count + 1;
#ifndef COUNT_LATER
    node[i].count++;
#endif
  fi;
  answer(a, i);
}

inline phase_2(a, i) {
#ifdef RETAKE
  if
  :: node[i].owner != OWNER(a) -> node[i].owner = OWNER(a); node[i].grant = attempt[a].token;
  :: else -> skip;
  fi;
#endif
  node[i].count = MAX(node[i].count, attempt[a].token);
  if
  :: !IS_IN(over, a) -> attempt[a].agreed = attempt[a].agreed | ONLY(i);
  :: else -> skip;
  fi;
}

/* One node, and the network towards it. */
proctype Server(byte i) {
  byte a;

end:
  do
  :: atomic {
      SOMEBODY_TRIES && down != i && begun > 0 ->
      pick(a, begun - 1);
      if
      :: ASKS(a, i) && (!IS_IN(attempt[a].reached, i) || repeats > 0) -> phase_1(a, i);
#ifdef CHECK_APART
      :: attempt[a].token > 0 && AGREES(a, i, attempt[a].token) ->
        attempt[a].passed = attempt[a].passed | ONLY(i);
      :: IS_IN(attempt[a].passed, i) ->
        d_step { attempt[a].passed = attempt[a].passed & ~ONLY(i); phase_2(a, i); }
#else
      :: ASKS(a, i) && attempt[a].token > 0 && AGREES(a, i, attempt[a].token) ->
        d_step { phase_2(a, i); }
#endif
#ifdef RAISE
      :: attempt[a].raised_from > 0 && AGREES(a, i, attempt[a].raised_from) ->
        node[i].count = MAX(node[i].count, attempt[a].raised_from);
#endif
      :: else -> skip;
      fi;
      a = 0;
    }
#if OTHERS
  :: d_step { SOMEBODY_TRIES && others > 0 -> others--; node[i].count++; }
#endif
  od;
}

#ifdef RESTART
/* A node stops at any time, and is back with nothing. */
proctype Restart() {
  byte i, j, a, known;
  byte granted;  /* the set of attempts to wait for */
  byte asked;    /* the set of nodes that told their count */

end:
  atomic {
    SOMEBODY_TRIES;
    pick(i, NODES - 1);
    d_step {
      down = i;
      node[i].count = 0; node[i].owner = 0; node[i].grant = 0;
      for (a : 0 .. ATTEMPTS - 1) {
        if
        :: IS_IN(attempt[a].reached, i) -> granted = granted | ONLY(a);
        :: else -> skip;
        fi;
      }
      a = 0;
    }
  }
#ifndef HASTY
end_wait:
  d_step { (granted & ~over) == 0; granted = 0; }
#endif
  do
  :: SIZE(asked) < ASKED ->
    atomic {
      pick(j, NODES - 1);
      d_step {
        if
        :: j != i && !IS_IN(asked, j) ->
          asked = asked | ONLY(j);
          known = MAX(known, node[j].count);
        :: else -> skip;
        fi;
        j = 0;
      }
    }
  :: else -> break;
  od;
  atomic { node[i].count = known; down = NODES; i = 0; known = 0; asked = 0; granted = 0; }
}
#endif

init {
  byte i;

  atomic {
    do
    :: node[0].count < SKEW -> node[0].count++;
    :: break;
    od;
    for (i : 0 .. NODES - 1) {
      run Server(i);
    }
    for (i : 0 .. ATTEMPTS - 1) {
      run Client(i);
    }
    i = 0;
#ifdef RESTART
    run Restart();
#endif
  }
}
