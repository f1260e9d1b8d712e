/* The queue of one slot of the local engine: entering, walking, leaving, dying, expiring, burying.
 *
 * Each option of the big loop is one access to shared memory by one process, in the order of
 * src/engines/local/queue.cc and engine*.cc; `step` is where the process stands. Between any two
 * steps it may be killed, or stand still for as long as the search likes. Where the code reads
 * several words and then finds the first unchanged, the model reads them at once.
 *
 * Modes are exclusive. A deadline passes ("late") at a moment the search chooses; how it is kept is
 * local_lifeline.pml's. The version of the head is modelled as load-linked/store-conditional, which
 * is what a version that never comes round again amounts to. Generations are numbers.
 *
 * What is asserted: granted() and off_list(). A waiter that nobody wakes is an invalid end state.
 * The worlds and the broken variants (#ifdef) are listed in docs/internals/local_model.md.
 */

#ifndef PROCESSES
#define PROCESSES 2
#endif
#ifndef RECORDS
#define RECORDS PROCESSES
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#ifndef ROUNDS_OF_FIRST
#define ROUNDS_OF_FIRST ROUNDS
#endif
#ifndef VISITORS
#define VISITORS 0
#endif
#ifndef SEXTON
#define SEXTON 0
#endif
#ifndef DEATHS
#define DEATHS 1
#endif
#ifndef LATE
#define LATE 1
#endif
#define WALKERS (PROCESSES + VISITORS + SEXTON)

/* A contender's record; 0 is "none", so the first is r[1]. */
typedef Record {
  byte generation;  /* the place */
  bit marked;
  bit in_use;
  byte older;       /* the link */
  byte older_generation;
  bit frozen;
  bit unpublished;
  byte owner;
  byte token;
  byte newer;
  bit holding;
  bit signal;
  bit expired;      /* the session this use of the record relies on */
  bit available;    /* its pool may give it out */
};

/* What one process, or one who only walks past, has in its registers. */
typedef Walker {
  byte step;
  byte back;        /* where to go on after a walk */
  byte round;
  byte self;
  byte self_generation;
  byte ahead_of;
  byte from;
  byte link;
  byte link_generation;
  byte next;
  byte next_generation;
  byte place_generation;
  bit place_marked;
  bit place_in_use;
  bit first;
  bit out;
  bit clean;
  bit changed;
  byte count;
  byte there;
  byte nearest;
  byte oldest_waiting;
  byte seen[RECORDS];
  byte seen_generation[RECORDS];
};

mtype = {
  TAKE, READ_HEAD, READ_NEWEST, FREEZE_NEWEST, STORE_LINK, SWAP_HEAD, HAND_BACK_NEWEST, PUBLISH,
  TAKE_IF_FIRST, LOOK, LOOKED, SLEEP, CONFIRM, CONFIRMED, HOLD,
  LEAVE, LEAVE_ALONE, LEAVE_MARK, HINT, POKE, WAKE_OLDEST, LEFT,
  WALK, WALK_HEAD, FREEZE_HEAD, TAKE_OFF_HEAD, HAND_BACK_HEAD,
  FOLLOW, FREEZE_OLDER, TAKE_OFF, HAND_BACK, HINT_NEWER, ASSESS, MARK,
  VISITED, GRAVE, SWEPT, BURY, DONE
};

Record r[RECORDS + 1];
Walker w[WALKERS];
byte head;
bit unchanged[WALKERS];  /* the head is what this walker last read */
bit dead[PROCESSES];
bit late[PROCESSES];     /* the deadline has passed and nothing has renewed it */
bit believes[PROCESSES]; /* got the lock and has not given it up */
byte deaths_left;
byte late_left;
byte last_token;
byte granted_token;
byte i;
byte j;

#define my w[me]
#define at(place) (my.step == place)

#ifdef UNVERSIONED_HEAD
#define HEAD_IS(value) (head == (value))
#else
#define HEAD_IS(value) (unchanged[me])
#endif

/* All of what follows is used inside a d_step. */

inline change_head(value) {
  head = value;
  i = 0;
  do
  :: i < WALKERS -> unchanged[i] = 0; i++;
  :: else -> break;
  od;
  i = 0;
}

inline read_place(record) {
  my.place_generation = r[record].generation;
  my.place_marked = r[record].marked;
  my.place_in_use = r[record].in_use;
}

inline forget_place() {
  my.place_generation = 0; my.place_marked = 0; my.place_in_use = 0;
}

#define PLACE_UNCHANGED(record)                                                                  \
  (r[record].generation == my.place_generation && r[record].marked == my.place_marked &&         \
   r[record].in_use == my.place_in_use)

inline freeze(record) {
  my.next = r[record].older;
  my.next_generation = r[record].older_generation;
#ifndef UNFROZEN
  r[record].frozen = 1;
#endif
}

/* Nothing leads to the record any more, and the list has an end. */
inline off_list(record) {
  i = 0;
  j = head;
  do
  :: j != 0 ->
    assert(j != record);
    i++;
    assert(i <= RECORDS);
    j = r[j].older;
  :: else -> break;
  od;
  i = 0;
  j = 0;
}

inline hand_back(record) {
  if
#ifdef STORE_HAND_BACK
  :: true ->
#else
  :: PLACE_UNCHANGED(record) && my.place_in_use ->
#endif
    assert(r[record].generation == my.place_generation);
    r[record].in_use = 0;
#ifdef COMMONS
    off_list(record);
    r[record].available = 1;
#endif
  :: else -> skip;
  fi;
}

inline forget_seen() {
  i = 0;
  do
  :: i < RECORDS -> w[me].seen[i] = 0; w[me].seen_generation[i] = 0; i++;
  :: else -> break;
  od;
  i = 0;
  my.count = 0;
}

inline see(record) {
  assert(my.count < RECORDS);
  my.seen[my.count] = record;
  my.seen_generation[my.count] = my.place_generation;
  my.count++;
}

inline begin_walk(whose, then) {
  my.ahead_of = whose; my.back = then; my.step = WALK;
}

inline end_walk() {
  my.from = 0; my.link = 0; my.link_generation = 0; my.next = 0; my.next_generation = 0;
  forget_place();
  if
  :: my.back == LEFT || my.back == BURY -> my.step = my.back; my.back = 0;
  :: else ->
    my.there = 0; my.nearest = 0; my.oldest_waiting = 0; my.changed = 0;
    if
    :: my.count == 0 -> my.step = my.back; my.back = 0;
    :: else -> my.step = ASSESS;
    fi;
  fi;
}

inline go_on_at_link() {
  if
  :: my.link == 0 -> end_walk();
  :: else -> my.step = FOLLOW;
  fi;
}

inline begin_anew() {
  forget_seen();
  my.clean = 1;
  my.next = 0; my.next_generation = 0;
  forget_place();
}

inline walk_ahead() {
  begin_anew();
  my.from = my.ahead_of;
  my.out = r[my.from].marked || r[my.from].generation != my.self_generation;
  my.link = (my.out -> 0 : r[my.from].older);
  my.link_generation = r[my.from].older_generation;
  go_on_at_link();
}

inline assess_next() {
  my.count--;
  my.seen[my.count] = 0; my.seen_generation[my.count] = 0;
  if
  :: my.count == 0 -> my.step = my.back; my.back = 0;
  :: else -> my.step = ASSESS;
  fi;
}

/* The process acts on having the lock, if its own clock does not tell it better. */
inline granted() {
  if
  :: !late[me] ->
    i = 0;
    do
    :: i < PROCESSES ->
      assert(i == me || !believes[i] || late[i] || dead[i]);
      i++;
    :: else -> break;
    od;
    i = 0;
    assert(r[my.self].token > granted_token);
    granted_token = r[my.self].token;
    believes[me] = 1;
  :: else -> skip;
  fi;
  my.step = HOLD;
}

inline mint() {
  last_token++;
  r[my.self].token = last_token;
}

inline store_link() {
  r[my.self].holding = (my.from == 0);
  r[my.self].older = my.next;
  r[my.self].older_generation = my.next_generation;
  r[my.self].frozen = 0;
#ifndef OPEN_LINK
  r[my.self].unpublished = (my.next != 0);
#endif
  my.step = SWAP_HEAD;
}

inline entered() {
  my.from = 0; my.next = 0; my.next_generation = 0;
  forget_place();
#ifdef COMMONS
  my.first = 0;
#endif
  my.step = (my.first -> TAKE_IF_FIRST : LOOK);
}

inline take() {
  my.round++;
#ifdef COMMONS
  my.self = 1;
  do
  :: my.self <= RECORDS && !r[my.self].available -> my.self++;
  :: else -> break;
  od;
#else
  my.self = (dead[0] && r[1].available -> 1 : me + 1);
#endif
  if
  :: my.self > RECORDS || !r[my.self].available -> my.self = 0; my.step = DONE;
  :: else ->
    off_list(my.self);
    r[my.self].available = 0;
    r[my.self].generation++;
    r[my.self].marked = 0;
    r[my.self].in_use = 1;
    r[my.self].owner = me;
    r[my.self].newer = 0;
    r[my.self].signal = 0;
    r[my.self].expired = 0;
    my.self_generation = r[my.self].generation;
    late[me] = 0;
#ifdef EARLY_TOKEN
    mint();
#endif
    my.step = READ_HEAD;
  fi;
}

inline looked() {
  my.out = 0; my.clean = 0; my.there = 0; my.oldest_waiting = 0; my.changed = 0;
}

inline round_over() {
  my.self = 0; my.self_generation = 0; my.first = 0; my.out = 0; my.clean = 0;
  my.there = 0; my.nearest = 0; my.oldest_waiting = 0; my.changed = 0;
  my.from = 0; my.next = 0; my.next_generation = 0;
  forget_place();
  forget_seen();
  unchanged[me] = 0;
  if
  :: my.round == (me == 0 -> ROUNDS_OF_FIRST : ROUNDS) -> my.round = 0; my.step = DONE;
  :: else -> my.step = TAKE;
  fi;
}

inline left() {
#ifndef COMMONS
  /* RecordPool::collect: out again once it has been handed back. */
  r[my.self].available = !r[my.self].in_use;
#endif
  round_over();
}

inline check_head() {
  if
  :: head == my.self -> begin_walk(0, LEFT);
  :: else -> left();
  fi;
}

inline gone(who) {
  w[who].step = DONE; w[who].back = 0; w[who].round = 0; w[who].self = 0;
  w[who].self_generation = 0; w[who].ahead_of = 0; w[who].from = 0; w[who].link = 0;
  w[who].link_generation = 0; w[who].next = 0; w[who].next_generation = 0;
  w[who].place_generation = 0; w[who].place_marked = 0; w[who].place_in_use = 0;
   w[who].first = 0; w[who].out = 0; w[who].clean = 0; w[who].changed = 0;
  w[who].count = 0; w[who].there = 0; w[who].nearest = 0; w[who].oldest_waiting = 0;
  i = 0;
  do
  :: i < RECORDS -> w[who].seen[i] = 0; w[who].seen_generation[i] = 0; i++;
  :: else -> break;
  od;
  i = 0;
  unchanged[who] = 0;
}

proctype Process(byte me) {
end:
  do
  /* Processes are alike: it is the first that dies. */
  :: d_step { me == 0 && deaths_left > 0 && !at(DONE) ->
      deaths_left--;
      dead[me] = 1;
#ifndef COMMONS
      r[1].available = 0;
#endif
      gone(me);
    }
  :: d_step { (me == 0 || (me == 1 && DEATHS > 0)) && late_left > 0 && !late[me] && my.self != 0 ->
      late_left--;
      late[me] = 1;
    }
  :: d_step { at(SLEEP) && timeout -> assert(false); }

  /* RecordPool::take */
#ifdef PATIENT
  /* Without a choice of their own, the second and the third are as alike as can be. */
  :: d_step { at(TAKE) && (me != 2 || w[1].step != TAKE) -> take(); }
#else
  :: d_step { at(TAKE) -> take(); }
#endif

  /* Engine::enter, Queue::enter */
  :: d_step { at(READ_HEAD) ->
      my.from = head;
      unchanged[me] = 1;
#ifndef EARLY_TOKEN
      mint();
#endif
      if
      :: my.from == 0 -> store_link();
      :: else -> my.step = READ_NEWEST;
      fi;
    }
  :: d_step { at(READ_NEWEST) ->
      read_place(my.from);
      if
      :: my.place_marked -> my.step = FREEZE_NEWEST;
      :: else ->
        my.next = my.from;
        my.next_generation = my.place_generation;
        store_link();
      fi;
    }
  :: d_step { at(FREEZE_NEWEST) -> freeze(my.from); my.step = STORE_LINK; }
  :: d_step { at(STORE_LINK) -> store_link(); }
  :: d_step { at(SWAP_HEAD) ->
      if
      :: HEAD_IS(my.from) ->
        change_head(my.self);
        my.first = (my.from == 0);
        if
        :: my.place_marked -> my.step = HAND_BACK_NEWEST;
        :: !my.place_marked && my.next != 0 -> my.step = PUBLISH;
        :: else -> entered();
        fi;
      :: else ->
#ifndef EARLY_TOKEN
        /* The newest token, unused, may as well not have been minted: fewer states. */
        if
        :: r[my.self].token == last_token -> last_token--;
        :: else -> skip;
        fi;
#endif
        my.from = 0; my.next = 0; my.next_generation = 0;
        forget_place();
        my.step = READ_HEAD;
      fi;
    }
  :: d_step { at(HAND_BACK_NEWEST) -> hand_back(my.from); my.step = PUBLISH; }
  :: d_step { at(PUBLISH) ->
      r[my.self].unpublished = 0;
      if
      :: my.next != 0 -> r[my.next].newer = my.self;
      :: else -> skip;
      fi;
      entered();
    }
  :: d_step { at(TAKE_IF_FIRST) ->
      if
#ifdef NO_SESSION_CHECK
      :: true -> granted();
#else
      :: !r[my.self].expired -> granted();
      :: else -> my.step = LOOK;
#endif
      fi;
      my.first = 0;
    }

  /* Waiting::advance, Engine::look, Engine::confirm */
  :: d_step { at(LOOK) ->
      r[my.self].signal = 0;
      begin_walk(my.self, LOOKED);
      walk_ahead();
    }
  :: d_step { at(LOOKED) ->
      if
      :: my.out -> my.step = LEAVE;
      :: !my.out && my.there == 0 -> my.step = CONFIRM;
#ifndef LOOK_ONCE
      /* Whoever it marked may just have been told that its turn has come. */
      :: !my.out && my.there != 0 && my.changed -> my.nearest = 0; my.step = LOOK;
#endif
      :: else -> my.step = SLEEP;
      fi;
      looked();
    }
#ifndef PATIENT
  :: d_step { at(LOOKED) && my.there != 0 && !my.out -> my.step = LEAVE; looked(); my.nearest = 0; }
#endif
  /* On its signal, on the life and on the deadline of whoever is right ahead. */
  :: d_step { at(SLEEP) && (r[my.self].signal || dead[r[my.nearest].owner] ||
                            late[r[my.nearest].owner] || r[my.self].expired) ->
      my.nearest = 0;
      my.step = LOOK;
    }
  :: d_step { at(CONFIRM) ->
      if
#ifndef NO_SESSION_CHECK
      :: r[my.self].expired || r[my.self].generation != my.self_generation -> my.step = LEAVE;
#endif
      :: else -> late[me] = 0; r[my.self].holding = 1; my.step = CONFIRMED;
      fi;
    }
  :: d_step { at(CONFIRMED) ->
      if
      :: r[my.self].marked || r[my.self].generation != my.self_generation -> my.step = LEAVE;
      :: else -> granted();
      fi;
    }

  /* Engine::leave */
  :: d_step { at(HOLD) || at(LEAVE) ->
      believes[me] = 0;
      unchanged[me] = 1;
#ifdef COMMONS
      my.step = LEAVE_MARK;
#else
#ifdef BLIND_RELEASE
      my.step = (r[my.self].older == 0 -> LEAVE_ALONE : LEAVE_MARK);
#else
      my.step = (head == my.self && r[my.self].older == 0 -> LEAVE_ALONE : LEAVE_MARK);
#endif
#endif
    }
  :: d_step { at(LEAVE_ALONE) ->
      if
#ifdef BLIND_RELEASE
      :: true ->
#else
      :: HEAD_IS(my.self) ->
#endif
        change_head(0);
        r[my.self].available = 1;
        round_over();
      :: else -> my.step = LEAVE_MARK;
      fi;
    }
  :: d_step { at(LEAVE_MARK) ->
      assert(r[my.self].generation != my.self_generation || r[my.self].marked ||
             r[my.self].in_use);
      if
      :: r[my.self].generation == my.self_generation && r[my.self].in_use ->
        r[my.self].marked = 1;
      :: else -> skip;
      fi;
#ifdef SILENT_LEAVE
      check_head();
#else
      my.step = HINT;
#endif
    }
  :: d_step { at(HINT) ->
      j = r[my.self].newer;
      if
      :: j != 0 && r[j].older == my.self && r[j].older_generation == my.self_generation &&
         !r[j].holding && r[j].in_use && !r[j].marked && !dead[r[j].owner] && !r[j].expired ->
        my.nearest = j;
        my.step = POKE;
      :: else -> begin_walk(0, WAKE_OLDEST);
      fi;
      j = 0;
    }
  :: d_step { at(POKE) -> r[my.nearest].signal = 1; my.nearest = 0; check_head(); }
  :: d_step { at(WAKE_OLDEST) ->
      if
      :: my.oldest_waiting != 0 -> r[my.oldest_waiting].signal = 1;
      :: else -> skip;
      fi;
      my.oldest_waiting = 0; my.nearest = 0; my.there = 0; my.changed = 0; my.clean = 0;
      check_head();
    }
  :: d_step { at(LEFT) -> left(); }

  /* Queue::walk, Queue::walk_ahead */
  :: d_step { at(WALK) && my.ahead_of != 0 -> walk_ahead(); }
  :: d_step { at(WALK) && my.ahead_of == 0 ->
      begin_anew();
      my.from = head;
      unchanged[me] = 1;
      my.link = 0;
      if
      :: my.from == 0 -> end_walk();
      :: else -> my.step = WALK_HEAD;
      fi;
    }
  :: d_step { at(WALK_HEAD) ->
      read_place(my.from);
      if
      :: my.place_marked -> my.step = FREEZE_HEAD;
      :: !my.place_marked && !unchanged[me] -> my.step = WALK;
      :: else ->
        my.link = r[my.from].older;
        my.link_generation = r[my.from].older_generation;
        see(my.from);
        go_on_at_link();
      fi;
    }
  :: d_step { at(FREEZE_HEAD) -> freeze(my.from); my.step = TAKE_OFF_HEAD; }
  :: d_step { at(TAKE_OFF_HEAD) ->
      if
      :: HEAD_IS(my.from) -> change_head(my.next); my.step = HAND_BACK_HEAD;
      :: else -> my.step = WALK;
      fi;
    }
  :: d_step { at(HAND_BACK_HEAD) -> hand_back(my.from); my.step = WALK; }
  :: d_step { at(FOLLOW) ->
      read_place(my.link);
      if
      :: my.place_generation != my.link_generation -> my.step = WALK;
      :: my.place_generation == my.link_generation && !my.place_marked ->
        see(my.link);
        my.from = my.link;
        my.link_generation = r[my.from].older_generation;
        my.link = r[my.from].older;
        go_on_at_link();
      :: else -> my.step = FREEZE_OLDER;
      fi;
    }
  :: d_step { at(FREEZE_OLDER) ->
      freeze(my.link);
      my.step = (PLACE_UNCHANGED(my.link) -> TAKE_OFF : WALK);
    }
  :: d_step { at(TAKE_OFF) ->
      if
      :: r[my.from].older != my.link || r[my.from].older_generation != my.link_generation ->
        my.step = WALK;
      :: r[my.from].older == my.link && r[my.from].older_generation == my.link_generation &&
         !r[my.from].frozen && !r[my.from].unpublished ->
        r[my.from].older = my.next;
        r[my.from].older_generation = my.next_generation;
        my.step = HAND_BACK;
      :: else ->
        my.clean = 0;
        my.from = my.link;
        my.link = my.next;
        my.link_generation = my.next_generation;
        go_on_at_link();
      fi;
    }
  :: d_step { at(HAND_BACK) ->
      hand_back(my.link);
      my.link = my.next;
      my.link_generation = my.next_generation;
      if
      :: my.link == 0 -> end_walk();
      :: else -> my.step = HINT_NEWER;
      fi;
    }
  :: d_step { at(HINT_NEWER) -> r[my.link].newer = my.from; my.step = FOLLOW; }

  /* Engine::assess, oldest first */
  :: d_step { at(ASSESS) ->
      j = my.seen[my.count - 1];
      if
      :: r[j].generation == my.seen_generation[my.count - 1] && !dead[r[j].owner] &&
         late[r[j].owner] -> r[j].expired = 1;
      :: else -> skip;
      fi;
      if
      :: r[j].generation != my.seen_generation[my.count - 1] || dead[r[j].owner] ||
         r[j].expired ->
        my.changed = 1;
        my.step = MARK;
      :: else ->
        my.there++;
        my.nearest = j;
        if
        :: my.oldest_waiting == 0 && !r[j].holding -> my.oldest_waiting = j;
        :: else -> skip;
        fi;
        assess_next();
      fi;
      j = 0;
    }
  :: d_step { at(MARK) ->
      j = my.seen[my.count - 1];
      if
#ifdef MARK_ANY_GENERATION
      :: true -> r[j].marked = 1;
#else
      :: r[j].generation == my.seen_generation[my.count - 1] && r[j].in_use -> r[j].marked = 1;
      :: else -> skip;
#endif
      fi;
      j = 0;
      assess_next();
    }

  /* Somebody who walks past and takes out what is over: Engine::sweep */
  :: d_step { at(VISITED) ->
      if
      :: my.changed && my.oldest_waiting != 0 -> r[my.oldest_waiting].signal = 1;
      :: else -> skip;
      fi;
      gone(me);
    }

  /* Whoever buries the dead: Engine::clear_contender */
  :: d_step { at(GRAVE) && dead[0] -> my.self = 1; begin_walk(0, SWEPT); }
  :: d_step { at(SWEPT) ->
      if
      :: my.changed && my.oldest_waiting != 0 -> r[my.oldest_waiting].signal = 1;
      :: else -> skip;
      fi;
      my.oldest_waiting = 0; my.nearest = 0; my.there = 0; my.changed = 0;
      begin_walk(0, BURY);
    }
  :: d_step { at(BURY) ->
      i = 0;
      do
      :: i < my.count && my.seen[i] != my.self -> i++;
      :: else -> break;
      od;
#ifndef HASTY_BURIAL
      if
      :: !my.clean -> my.count = 0; i = 0; j = 1;
      :: else -> skip;
      fi;
#endif
      if
      :: i == my.count && j == 0 ->
        off_list(my.self);
        /* Its memory goes to whoever needs some next. */
        r[my.self].in_use = 0;
        r[my.self].available = 1;
      :: else -> skip;
      fi;
      j = 0;
      gone(me);
    }
  od;
}

init {
  byte p;
  atomic {
    p = 1;
    do
    :: p <= RECORDS -> r[p].available = 1; p++;
    :: else -> break;
    od;
    p = 0;
    do
    :: p < PROCESSES -> w[p].step = TAKE; run Process(p); p++;
    :: p >= PROCESSES && p < PROCESSES + VISITORS ->
      w[p].step = WALK; w[p].back = VISITED; run Process(p); p++;
    :: p >= PROCESSES + VISITORS && p < WALKERS -> w[p].step = GRAVE; run Process(p); p++;
    :: p == WALKERS -> break;
    od;
    p = 0;
    deaths_left = DEATHS;
    late_left = LATE;
  }
}
