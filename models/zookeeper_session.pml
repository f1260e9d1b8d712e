/* A session of ZooKeeper, and how long its client may believe in it.
 *
 * The client's server passes on to the leader that it has heard of the session only when the leader
 * asks, once a PERIOD. It may be cut off from the leader at any time, and goes on answering what it
 * can answer alone. Another leader may be elected at any time, which gives the session its whole
 * timeout; the former one does not know, and goes on answering what it can answer without a
 * majority. The client may go to another server. Messages between client and server take as long as
 * they like; those between servers arrive at once, or are lost when they are cut off.
 *
 * The client's rule: it counts from the sending of a request that was answered, or from asking for
 * a connection that it got, once another request, which needed a majority, was sent more than a
 * PERIOD after that answer, over the same connection, and was answered, too. Nobody may have been
 * promised the session beyond the moment the leader ends it.
 *
 * The broken variants (#ifdef) are listed in docs/internals/zookeeper_model.md.
 */

#define TTL 4
#define PERIOD 1
#define END_OF_TIME 8

byte now;
byte ends = TTL;     /* when the leader ends the session */
bit lost;            /* it has */
byte promised;       /* the furthest moment the client believed in the session until */

bit touched;         /* the client's server has heard of the session since the leader last asked */
bit cut;             /* it does not hear the leader */
bit deposed;         /* its leader leads no more, and does not know */
byte asked_last;     /* when the leader last asked */

/* Under way between the client and its server; at most one of each. */
bit request, reply;
bit hello, welcome;

#ifdef SLOW_LINK
bit passing;         /* what the server passes on is under way */
#endif

#ifdef SYNC
#define LEADER_ANSWERS (!cut)
#else
#define LEADER_ANSWERS (!cut && !deposed)
#endif

#ifdef NO_GAP
#define LATE_ENOUGH 1
#else
#define LATE_ENOUGH (direct || sent > answered + PERIOD)
#endif

inline believe(since) {
  if
  :: !lost && since + TTL > promised -> promised = since + TTL;
  :: else -> skip;
  fi;
  assert(!lost || promised <= now);
}

proctype Client() {
  byte sent;         /* the request under way */
  byte counted;      /* what is counted from once it is confirmed, */
  byte answered;     /* when that was answered, */
  bit direct = 1;    /* and whether the leader itself has heard it */

  do
  :: now < END_OF_TIME && !lost ->
    sent = now;
    request = 1;
    if
    :: reply ->
      d_step {
        reply = 0;
#ifdef FROM_LAST
        believe(sent);
#else
        if
        :: LATE_ENOUGH ->
          believe(counted);
          counted = sent; answered = now; direct = 0;
        :: else -> skip;
        fi;
#endif
        sent = 0;
      }
    :: skip ->
      /* It gives up waiting and goes to another server. What it sent is void. */
      d_step { request = 0; reply = 0; sent = now; hello = 1; }
end_unwelcome:
      welcome;
      d_step {
        welcome = 0;
        counted = sent; answered = now; direct = 1;
#ifdef FROM_CONNECTION
        believe(sent);
#endif
        sent = 0;
      }
    fi;
  :: now == END_OF_TIME || lost -> break;
  od;
}

proctype Server() {
end:
  do
  :: d_step { request && !reply ->
      request = 0;
      touched = 1;
      if
      :: LEADER_ANSWERS && !lost -> reply = 1;
      :: else -> skip;
      fi;
    }
  /* The session moves to a server that hears the leader, which is told at once; */
  :: d_step { hello && !lost -> hello = 0; welcome = 1; cut = 0; deposed = 0; touched = 0; ends = now + TTL; }
  /* or to one that believes in the former leader. */
  :: d_step { hello && deposed && !cut -> hello = 0; welcome = 1; }
  :: d_step { !cut -> cut = 1; }
  :: d_step { !deposed && !lost -> deposed = 1; ends = now + TTL; }
  od;
}

proctype Leader() {
end:
  do
#ifdef SLOW_LINK
  :: d_step { asked_last != now -> asked_last = now;
      if
      :: touched && !cut && !deposed && !passing -> touched = 0; passing = 1;
      :: else -> skip;
      fi;
    }
  :: d_step { passing -> passing = 0;
      if
      :: !cut && !deposed && !lost -> ends = now + TTL;
      :: else -> skip;
      fi;
    }
#else
  :: d_step { asked_last != now -> asked_last = now;
      if
      :: touched && !cut && !deposed && !lost -> touched = 0; ends = now + TTL;
      :: else -> skip;
      fi;
    }
#endif
  :: d_step { now >= ends && !lost -> lost = 1; assert(promised <= now); }
  od;
}

/* The leader asks in time. */
proctype Time() {
  do
  :: d_step { now < END_OF_TIME && now - asked_last < PERIOD -> now++; }
  :: now == END_OF_TIME -> break;
  od;
}

init {
  atomic {
    run Client();
    run Server();
    run Leader();
    run Time();
  }
}
