/* A lifeline: one deadline, kept by the threads of one process and ended by anybody once it has
 * passed.
 *
 * The holder's threads renew it and tell their user until when the lease stands. A rival ends the
 * lifeline when it is due, and then has the lock. Nobody may have been promised the lock beyond the
 * moment a rival gets it. Any of them may stand still between any two steps while time goes on.
 *
 * Deadline and "expired" are one word, so that a renewal, an expiry and a promise each rest on one
 * access. The broken variants (#ifdef) are listed in docs/internals/local_model.md.
 */

#define TTL 2
#define END_OF_TIME 5

byte now;
byte deadline = TTL;
bit expired;
byte promised;  /* the furthest moment any thread was told the lease stands until */
bit lost;       /* a rival has the lock */

#ifdef DEADLINE_APART
bit renewed;    /* the version of a word beside the deadline: it changes with each renewal */
#endif

#ifdef DEADLINE_APART
#define READ_WORD seen_version = renewed; seen = deadline
#define SAME_WORD (!expired && renewed == seen_version)
#else
#define READ_WORD seen = deadline
#define SAME_WORD (!expired && deadline == seen)
#endif

/* renew(), by a reading of the clock that may be old when it is used. */
proctype Renewer() {
  byte sent, seen, renewals;
  bit seen_version;

  do
  :: renewals < 2 ->
    renewals++;
    sent = now;
    d_step {
      if
      :: expired -> renewals = 2; sent = 0;
      :: else -> READ_WORD;
      fi;
    }
    if
    :: sent + TTL > seen && !expired ->
#ifdef DEADLINE_APART
      d_step {
        if
        :: deadline < sent + TTL -> deadline = sent + TTL;
        :: else -> skip;
        fi;
      }
      d_step {
        if
        :: SAME_WORD -> renewed = 1 - renewed;
        :: else -> skip;
        fi;
        sent = 0; seen = 0; seen_version = 0;
      }
#else
      d_step {
        if
        :: SAME_WORD -> deadline = sent + TTL;
        :: else -> skip;
        fi;
        sent = 0; seen = 0;
      }
#endif
    :: else -> sent = 0; seen = 0;
    fi;
  :: else -> break;
  od;
}

/* The keeper finds itself too late and gives the lifeline up. */
proctype Keeper() {
  byte seen, looked;
  bit seen_version;

  looked = now;
  d_step { READ_WORD; }
  d_step {
    if
#ifdef BLIND_END
    :: looked >= seen -> expired = 1;
#else
    :: looked >= seen && SAME_WORD -> expired = 1;
#endif
    :: else -> skip;
    fi;
    seen = 0; looked = 0; seen_version = 0;
  }
}

/* A user's thread asks until when the lease stands, and acts on the answer. */
proctype User() {
  byte asked;

  do
  :: asked < 2 ->
    d_step {
      asked++;
      if
      :: !expired && deadline > promised -> promised = deadline;
      :: else -> skip;
      fi;
      assert(!lost || promised <= now);
    }
  :: else -> break;
  od;
}

/* expire_if_due(), then the lock. */
proctype Rival() {
  byte seen, looked;
  bit seen_version;

  do
  :: expired -> break;
  :: !expired && now >= deadline ->
    looked = now;
    d_step { READ_WORD; }
    d_step {
      if
#ifdef BLIND_EXPIRY
      :: looked >= seen -> expired = 1;
#else
      :: looked >= seen && SAME_WORD -> expired = 1;
#endif
      :: else -> skip;
      fi;
      seen = 0; looked = 0; seen_version = 0;
    }
  :: now == END_OF_TIME && now < deadline -> goto not_due;
  od;
  skip;
  d_step { lost = 1; assert(promised <= now); }
not_due:
  skip;
}

proctype Time() {
  do
  :: now < END_OF_TIME -> now++;
  :: else -> break;
  od;
}

init {
  atomic {
    run Renewer();
    run Keeper();
    run User();
    run Rival();
    run Time();
  }
}
