/* How a synchronous step is committed on two parameter servers, and how a checkpoint is cut between two steps:
   step_tokens.h, summed_calls.h, coordinator.h, shard.h. Each server has one part of the update; the second part runs
   after the first. Each task fails at most once, at any point: it is killed and started again; the chief may also be
   stopped for longer than its lease, and goes on when nobody, or a successor, has its place. MAX steps.

   Every atomic block is one call, named as in proto/cluster.proto. coordinator.pml is about workers, tokens and the
   numbers of epochs. Here a part may have all contributions to the present step at any time, and what is not of the
   present epoch is forgotten when that ends.

   Checked:  a part runs once in every step, and a step is counted when all parts have run;
             the parts of a checkpoint are of one step, and it is not older than the one before.
   With UNCHECKED the chief does not look whether its hold stood: spin then finds a checkpoint of two steps. */
#define MAX 2

bool ready = false;        /* an epoch is committed */
byte begun = 0;            /* the chief that has begun an epoch which is not */
byte step = 0;
byte w[2];                 /* updates that the variables of a part hold */
bool complete[2];              /* the part has all contributions to the step */
bool running = false;      /* a commit has begun */
bool runs[2], ran[2];      /* of a part: it may run, it has said that it ran */
bool inside[2];            /* a call runs on the server, which Hold waits for */
byte chief = 0;            /* whose lease lives. 0: nobody's, 1: the first one's, 2: the successor's */
byte hold = 0;             /* the chief for whom no commit begins (HoldSteps) */
byte closed[2];            /* the chief for whom the server lets no call in (HoldCut) */
byte saved = 0;            /* the step of the checkpoint */
bool server_failed = false, chief_failed = false;

inline begin_step() {
  complete[0] = false; complete[1] = false; running = false; runs[0] = false; runs[1] = false; ran[0] = false; ran[1] = false
}
inline end_epoch() {
  ready = false; begun = 0; hold = 0; closed[0] = 0; closed[1] = 0; inside[0] = false; inside[1] = false; begin_step()
}

active proctype server_fault() {
  do
  :: step >= MAX -> break
  :: atomic { !server_failed && step < MAX -> d_step { server_failed = true; end_epoch() } }
  :: server_failed -> break
  od
}

active proctype workers() {
  do
  :: step >= MAX -> break
  :: atomic { ready && step < MAX && !complete[0] -> complete[0] = true }
  :: atomic { ready && step < MAX && !complete[1] -> complete[1] = true }
  od
}

/* A server is held for ten seconds at most. */
active proctype hold_ends() {
  do
  :: step >= MAX -> break
  :: atomic { closed[0] != 0 -> closed[0] = 0 }
  :: atomic { closed[1] != 0 -> closed[1] = 0 }
  od
}

/* The thread of a server that runs its part. */
proctype part(byte p) {
  do
  :: step >= MAX -> break
  :: atomic { ready && complete[0] && complete[1] && !running && hold == 0 -> running = true }             /* PartReady */
  :: atomic { ready && running && !ran[p] && !runs[p] && (p == 0 || ran[0]) -> runs[p] = true };
     if
     :: atomic { runs[p] && closed[p] == 0 -> inside[p] = true };
        atomic { runs[p] -> d_step { w[p]++; inside[p] = false; assert(w[p] == step + 1) } }
        unless { !runs[p] };
        atomic {                                                                                   /* PartRan */
          if
          :: runs[p] && ran[1 - p] -> d_step { step++; begin_step(); assert(w[0] == step && w[1] == step) }
          :: runs[p] && !ran[1 - p] -> d_step { runs[p] = false; ran[p] = true }
          :: else                                                                                  /* ABORTED */
          fi
        }
     :: !runs[p]
     fi
  od
}

/* Between two calls the chief is killed, or stopped until its lease has ended; then perhaps somebody takes its place. */
inline maybe_fails() {
  if
  :: atomic { !chief_failed -> d_step { chief_failed = true; chief = 0; hold = 0 } }; goto start
  :: atomic { !chief_failed -> d_step { chief_failed = true; chief = 0; hold = 0 } }
  :: atomic { !chief_failed -> d_step { chief_failed = true; chief = 0; hold = 0 }; run chief_task(2) }
  :: skip
  fi
}

proctype chief_task(byte me) {
  byte cut[2];
  bool stood;
start:
  skip;
  d_step { cut[0] = 0; cut[1] = 0; stood = false };
  if
  :: step >= MAX -> goto finished
  :: atomic { chief == 0 || chief == me -> chief = me }                                            /* Join */
  :: chief != 0 && chief != me -> goto finished                                                    /* ALREADY_EXISTS */
  fi;
  if
  :: chief != me -> goto start
  :: chief == me && ready -> goto training                                                         /* Adopt */
  :: atomic { chief == me && !ready -> d_step { end_epoch(); begun = me } }                        /* BeginEpoch */
  fi;
  maybe_fails();
  atomic { if :: begun == me -> d_step { step = saved; w[0] = saved; w[1] = saved } :: else -> goto start fi };
  maybe_fails();
  atomic { if :: begun == me && chief == me -> d_step { ready = true; begun = 0 } :: else -> goto start fi };
training:
  do
  :: step >= MAX -> goto finished
  :: !ready || chief != me -> goto start
  :: atomic { ready && chief == me -> hold = me };                                                 /* HoldSteps */
     if
     :: ready && hold == me && !running
     :: !ready || hold != me -> goto start
     fi;
     maybe_fails();
     atomic { if :: ready -> closed[0] = me :: else -> goto start fi };                            /* HoldCut */
     if :: ready && !inside[0] :: !ready -> goto start fi;
     atomic { if :: ready -> closed[1] = me :: else -> goto start fi };
     if :: ready && !inside[1] :: !ready -> goto start fi;
     maybe_fails();
     atomic { if :: ready && closed[0] == me -> d_step { cut[0] = w[0]; closed[0] = 0 } :: else -> goto start fi };
     atomic { if :: ready && closed[1] == me -> d_step { cut[1] = w[1]; closed[1] = 0 } :: else -> goto start fi };
     atomic { d_step { stood = (hold == me); hold = (hold == me -> 0 : hold) } };                  /* ReleaseSteps */
#ifndef UNCHECKED
     if :: !stood -> goto start :: stood fi;
#endif
     maybe_fails();
     if :: atomic { chief == 0 -> chief = me } :: skip fi;                                         /* Join again */
     atomic {                                                                                      /* MaySave */
       if
       :: chief == me && ready -> d_step { assert(cut[0] == cut[1]); assert(cut[0] >= saved); saved = cut[0] }
       :: else
       fi
     };
     d_step { cut[0] = 0; cut[1] = 0; stood = false }
  od;
finished: skip
}

init { atomic { run part(0); run part(1); run chief_task(1) } }
