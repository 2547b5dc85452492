/* The protocol of sextant/dist/coordinator.h, with one parameter server, a chief and two workers, each of which is
   killed and started again at most once, at any point. R = N = 2, MAX steps.

   Every atomic block is one call on the server. The variable w counts the contributions that it holds; a checkpoint
   remembers the step it was taken at. A token's lease may end at any time, whether its holder is alive or not, and a
   contribution may arrive twice. Names are those of step_tokens.h and shard_epoch.h.

   Checked:  safety    the variable holds exactly R contributions of every step, whoever was killed when;
                       no call of an earlier epoch, or to the server before it was killed, changes it
             liveness  all steps are done, under weak fairness

   check_model.sh runs it: safety by default, liveness (a minute) with "liveness". */
#define R 2
#define MAX 2

byte server = 1;         /* incarnation */
byte epoch = 0;
byte phase = 0;          /* 0 empty, 1 begun, 2 ready */
byte chief = 0;          /* the incarnation whose lease lives, and that began the epoch */
byte begun_by = 0;
byte step = 0, w = 0;
bool contributed[R];     /* by number of token, to the present step */
byte holder[R];          /* 0: free, else worker + 1 */

byte saved = 0;          /* the step of the checkpoint */
byte highest = 0;        /* the largest epoch that the chief has seen on a server or in the checkpoint */
bool server_killed = false, chief_killed = false;
bool killed[2];

inline whole() { assert(phase != 2 || w == R * step + contributed[0] + contributed[1]) }

inline begin_step() {
  contributed[0] = false; contributed[1] = false; holder[0] = 0; holder[1] = 0
}

/* Kills the server: what it held is gone. */
active proctype server_fault() {
  do
  :: step >= MAX -> break
  :: atomic { !server_killed && step < MAX ->
       server_killed = true; server++; epoch = 0; phase = 0; begun_by = 0; step = 0; w = 0; begin_step() }
  :: server_killed -> break
  od
}

/* Leases of tokens end. */
active proctype lease() {
  do
  :: step >= MAX -> break
  :: atomic { phase == 2 && holder[0] != 0 -> holder[0] = 0 }
  :: atomic { phase == 2 && holder[1] != 0 -> holder[1] = 0 }
  od
}

active proctype chief_task() {
  byte me = 1, mine = 0, at = 0;
  chief = me;
start:
  if
  :: step >= MAX -> goto finished
  :: atomic { phase == 2 -> highest = epoch; goto running }   /* adopt: nothing is lost */
  :: atomic { phase != 2 && chief == me ->
       epoch = (highest > epoch -> highest : epoch) + 1; mine = epoch; highest = mine; at = server;
       phase = 1; begun_by = me }
  fi;
  if
  :: atomic { !chief_killed -> chief_killed = true; me++; chief = me }; goto start
  :: skip
  fi;
  /* assigns all variables */
  atomic {
    if
    :: server == at && epoch == mine && phase == 1 && begun_by == me -> step = saved; w = R * saved; begin_step()
    :: else -> goto start
    fi
  };
  if
  :: atomic { !chief_killed -> chief_killed = true; me++; chief = me }; goto start
  :: skip
  fi;
  atomic {
    if
    :: server == at && epoch == mine && phase == 1 && begun_by == me && chief == me -> phase = 2; whole()
    :: else -> goto start
    fi
  };
running:
  do
  :: atomic { phase == 2 && chief == me -> whole(); saved = step }
  :: atomic { phase != 2 } -> goto start
  :: atomic { !chief_killed -> chief_killed = true; me++; chief = me }; goto start
  :: step >= MAX -> goto finished
  od;
finished: skip
}

proctype worker(byte i) {
  byte e, s, at, t;
join:
  if
  :: step >= MAX -> goto finished
  :: atomic { phase == 2 -> e = epoch; at = server }
  fi;
take:
  if
  :: step >= MAX -> goto finished
  :: atomic { (phase != 2 || epoch != e || server != at) -> goto join }
  :: atomic { step < MAX && phase == 2 && epoch == e && server == at && holder[0] == 0 && !contributed[0] ->
       holder[0] = i + 1; t = 0; s = step }
  :: atomic { step < MAX && phase == 2 && epoch == e && server == at && holder[1] == 0 && !contributed[1] ->
       holder[1] = i + 1; t = 1; s = step }
  fi;
  if
  :: atomic { !killed[i] -> killed[i] = true }; goto join     /* with the token in its hand */
  :: skip
  fi;
  bool again = false;
contribute:
  atomic {
    if
    :: phase == 2 && epoch == e && server == at && s == step ->
         if
         :: !contributed[t] -> contributed[t] = true; w++;
              assert(e == epoch && at == server && s == step);   /* computed from these variables */
              if
              :: contributed[0] && contributed[1] -> step++; begin_step(); assert(w == R * step)
              :: else
              fi
         :: else
         fi;
         whole()
    :: else   /* STALE or ABORTED */
    fi
  };
  if
  :: !again -> again = true; goto contribute                   /* the answer was lost */
  :: skip
  fi;
  goto take;
finished: skip
}

init { atomic { run worker(0); run worker(1) } }

ltl done { <> (step >= MAX) }
