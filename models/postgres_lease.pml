/* The lease mode on PostgreSQL: one name, its queue, and how long a holder may believe in its lease.
 *
 * A statement is one transaction that takes the turn of the name first: a d_step. It may run any
 * time after it was sent, and its answer may come any time later. Who waits is told on a session
 * that it was given the lock; the notice may be lost. A process may end at any time, and with it its
 * session. A replica may be promoted, once, with what it had when it last caught up.
 *
 * Time is counted down: what is left of the lease at the server, what each client believes is left
 * of its own, and how long ago each request was sent.
 *
 * Asserted: nobody believes in a lease while another is granted the lock, unless a promotion lost
 * it; tokens rise from grant to grant, through promotions, too; nobody who is gone is given the
 * lock; nobody who waits and is there is overtaken; and when nothing can happen any more, everybody
 * is done, so that nobody waits for ever.
 *
 * The broken variants (#ifdef) are listed in docs/internals/postgres_model.md.
 */

#ifndef CLIENTS
#define CLIENTS 3
#endif
#ifndef TTL
#define TTL 2
#endif
#ifndef RENEWALS
#define RENEWALS 1
#endif
#ifndef ASKS
#define ASKS 2
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef PROMOTIONS
#define PROMOTIONS 1
#endif

#define NOBODY CLIENTS
#define EPOCH 16        /* a timeline in a token */

/* At the server. */
byte holder = NOBODY;
byte left;              /* of its lease */
byte queue[CLIENTS];
byte waiting;           /* how many are in the queue */
byte numbers;           /* of the sequence */
byte timeline;
bit there[CLIENTS];     /* its session holds its number */

/* The replica. */
byte r_holder = NOBODY;
byte r_left;
byte r_numbers;

/* Of each client. */
byte believes[CLIENTS]; /* how long it takes its lease to last */
byte age[CLIENTS];      /* since its request was sent; none under way: TTL */
bit notice[CLIENTS];

byte highest;           /* token granted */
bit excused;            /* a promotion lost a lease */
byte promotions;
byte crashes;
byte done;

#ifdef NO_TIMELINE
#define TOKEN numbers
#else
#define TOKEN (timeline * EPOCH + numbers)
#endif

#ifdef HAND_TO_GONE
#define MAY_BE_GIVEN(i) 1
#else
#define MAY_BE_GIVEN(i) there[i]
#endif

#ifdef EXPIRY_EARLY
#define OVER (left <= 1)
#else
#define OVER (left == 0)
#endif

inline draw(token) { numbers++; token = TOKEN; }

/* Within the turn. */
inline give(whom, token) {
  assert(token > highest);
  highest = token;
  holder = whom;
  left = TTL;
  k = 0;
  do
  :: k < CLIENTS ->
    assert(k == whom || believes[k] == 0 || excused);
    k++;
  :: else -> break;
  od;
}

inline leave_queue(place) {
  k = place;
  do
  :: k + 1 < waiting -> queue[k] = queue[k + 1]; k++;
  :: else -> break;
  od;
  waiting--;
  queue[waiting] = 0;
}

inline find_place(whom) {
  place = 0;
  do
  :: place < waiting && queue[place] != whom -> place++;
  :: else -> break;
  od;
}

inline hand_over() {
  if
  :: OVER -> holder = NOBODY;
  :: else -> skip;
  fi;
  do
  :: holder == NOBODY && waiting > 0 ->
    next = queue[0];
    leave_queue(0);
    if
    :: MAY_BE_GIVEN(next) ->
      assert(there[next]);
      draw(minted);
      give(next, minted);
      notice[next] = 1;
    :: else -> skip;
    fi;
  :: else -> break;
  od;
}

/* Whether somebody who waits would be overtaken. */
inline none_overtaken(whom) {
  k = 0;
  do
  :: k < waiting -> assert(queue[k] == whom || !there[queue[k]]); k++;
  :: else -> break;
  od;
}

proctype Client(byte me) {
  byte k, place, next, minted;   /* within a turn */
  byte token;
  byte asks, renewals;
  bit granted;
  byte remains;

ask:
  /* It has had enough. Who waits is passed over when its session is gone. */
  if
  :: asks == ASKS -> there[me] = 0; goto gone;
  :: else -> asks++;
  fi;
  d_step { age[me] = 0; granted = 0; }
#ifdef TOKEN_EARLY
  d_step { draw(token); }
#endif
  d_step {
    if
    :: holder == me && !OVER ->
      left = TTL; granted = 1;
#ifdef OVERTAKES
    :: (holder == NOBODY || OVER) ->
      none_overtaken(me);
      draw(token); give(me, token); granted = 1;
#endif
    :: else ->
      find_place(me);
      if
      :: place == waiting -> queue[waiting] = me; waiting++;
      :: else -> skip;
      fi;
#ifdef TOKEN_EARLY
      if
      :: waiting == 1 && (holder == NOBODY || OVER) ->
        leave_queue(0); give(me, token); granted = 1;
      :: else -> skip;
      fi;
#else
      hand_over();
      if
      :: holder == me -> granted = 1; notice[me] = 0;
      :: else -> skip;
      fi;
#endif
    fi;
  }
  /* The answer is under way. */
  if
  :: granted -> remains = TTL; goto held;
  :: !granted -> age[me] = TTL;
  :: d_step { crashes < CRASHES -> crashes++; there[me] = 0; } goto gone;
  fi;

  /* It waits. */
  do
  :: d_step { notice[me] -> notice[me] = 0; age[me] = 0; }
#ifdef FROM_NOTICE
    d_step { age[me] = 0; remains = TTL; }
    goto held;
#else
    d_step {
      if
      :: holder == me && !OVER -> remains = left;
      :: else -> remains = 0;
      fi;
    }
    if
    :: remains > 0 -> goto held;
    :: else -> age[me] = TTL; goto ask;
    fi;
#endif
  :: d_step { notice[me] -> notice[me] = 0; }     /* it is lost */
#ifndef NO_LOOK
  /* Nothing was heard until the lease that it waits for may be over. */
  :: left == 0 -> goto ask;
#endif
  :: d_step { crashes < CRASHES -> crashes++; there[me] = 0; } goto gone;
  od;

held:
  skip;
  d_step {
    if
    :: remains > age[me] -> believes[me] = remains - age[me];
    :: else -> skip;
    fi;
    age[me] = TTL;
    assert(believes[me] == 0 || holder == me || excused);
    remains = 0; token = 0; granted = 0;
  }
  do
  :: renewals < RENEWALS && believes[me] > 0 ->
    d_step { age[me] = 0; renewals++; }
    d_step {
#ifdef RENEW_REVIVES
      if
      :: holder != me || OVER -> holder = me; left = TTL;
      :: else -> skip;
      fi;
#endif
      if
      :: holder == me && !OVER -> left = TTL; remains = TTL;
      :: else -> remains = 0;
      fi;
    }
    d_step {
      if
      :: remains > age[me] && remains - age[me] > believes[me] -> believes[me] = remains - age[me];
      :: else -> skip;
      fi;
      assert(believes[me] == 0 || holder == me || excused);
      age[me] = TTL; remains = 0;
    }
  :: break;
  :: d_step { crashes < CRASHES -> crashes++; there[me] = 0; } goto gone;
  od;

  believes[me] = 0;
  d_step {
    find_place(me);
    if
    :: place < waiting -> leave_queue(place);
    :: else -> skip;
    fi;
    if
    :: holder == me -> holder = NOBODY; left = 0;
    :: else -> skip;
    fi;
    hand_over();
    place = 0; next = 0; minted = 0; k = 0;
  }
  there[me] = 0;

gone:
  skip;
  d_step { believes[me] = 0; age[me] = TTL; notice[me] = 0; done++; }
}

proctype Time() {
  byte i;
end:
  do
  :: d_step {
      (left > 0 || believes[0] > 0 || believes[1] > 0 || believes[CLIENTS - 1] > 0 ||
       age[0] < TTL || age[1] < TTL || age[CLIENTS - 1] < TTL) ->
      if
      :: left > 0 -> left--;
      :: else -> skip;
      fi;
      i = 0;
      do
      :: i < CLIENTS ->
        if
        :: believes[i] > 0 -> believes[i]--;
        :: else -> skip;
        fi;
        if
        :: age[i] < TTL -> age[i]++;
        :: else -> skip;
        fi;
        i++;
      :: else -> break;
      od;
      i = 0;
      if
      :: r_left > 0 -> r_left--;
      :: else -> skip;
      fi;
    }
  od;
}

proctype Replica() {
  byte i;
end:
  do
  :: d_step { promotions < PROMOTIONS ->
      r_holder = holder; r_left = left; r_numbers = numbers;
    }
  :: d_step { promotions < PROMOTIONS ->
      promotions++;
      timeline++;
      if
      :: left > 0 && (r_holder != holder || r_left != left) -> excused = 1;
      :: else -> skip;
      fi;
      holder = r_holder; left = r_left; numbers = r_numbers;
      /* Every session has ended, and who waited by it is not there. */
      waiting = 0;
      i = 0;
      do
      :: i < CLIENTS -> queue[i] = 0; notice[i] = 0; i++;
      :: else -> break;
      od;
      i = 0;
      r_holder = NOBODY; r_left = 0; r_numbers = 0;
    }
  od;
}

proctype Watch() {
  timeout -> assert(done == CLIENTS);
}

init {
  byte i;
  atomic {
    do
    :: i < CLIENTS -> there[i] = 1; age[i] = TTL; run Client(i); i++;
    :: else -> break;
    od;
    run Time();
    run Watch();
    if
    :: PROMOTIONS > 0 -> run Replica();
    :: else -> skip;
    fi;
  }
}
