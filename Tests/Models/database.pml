/* The vault's row in a database: an append that compares, a connection that is lost with its lock, an outcome that is decided later,
   a change of the generation, a failover to a standby, a former primary that comes back; Format.md, "In a database".

   Each atomic block is a round trip, or what the server does with one. It names the Swift function.

   Sizes:        WRITERS COMPACTORS READERS POSITIONS
   Accidents:    CUTS (lost connections) FAILOVER CANCEL (waits for the standby that are cancelled) KILLS BACK (the former primary answers again)
   More:         SYNC (the standby has what is acknowledged) WEAK_LOCK (the row's lock promises nothing, as CockroachDB's)
   Former behaviour, in which violations are found: FORMER_V10 FORMER_V11
   Planted bugs: PLANT_NO_COMPARISON PLANT_ASSUME_FAILED PLANT_NO_PROOF PLANT_DISCARD PLANT_NO_TURN */
#ifndef WRITERS
#define WRITERS 2
#endif
#ifndef COMPACTORS
#define COMPACTORS 0
#endif
#ifndef READERS
#define READERS 1
#endif
#ifndef CUTS
#define CUTS 1
#endif
#ifndef FAILOVER
#define FAILOVER 0
#endif
#ifndef CANCEL
#define CANCEL 0
#endif
#ifndef KILLS
#define KILLS 0
#endif
#ifndef POSITIONS
#define POSITIONS 6
#endif
#define PROCESSES (WRITERS+COMPACTORS+READERS)

/* steps of a process, by the Swift function that each stands for */
#define idle                 0
#define beginTransaction     1      /* PostgresRecordStore.lock: the row's lock */
#define sendCommit           2      /* PostgresRecordStore.append: INSERT, UPDATE, COMMIT */
#define receiveOutcome       3      /* PostgresRecordStore.commit */
#define decide               4      /* PostgresRecordStore.decided, isAppended */
#define finishDeciding       5      /* PostgresRecordStore.finishTransaction */
#define prove                6      /* PostgresRecordStore.prove: the standby has it */
#define rememberPosition     7      /* SealedLog.append: memory.remember */
#define acknowledge          8      /* SealedLog.commit returns */
#define compareMemory        9      /* SealedLog.makeReady */
#define readMemory          10      /* SealedLog.replaceView: Remembered.init, before the store */
#define lookAgain           11      /* SealedLog.replaceView: LogView.reopened */
#define look                 1      /* PostgresRecordStore.growth */
#define rememberRead         2      /* SealedLog.confirmNewestRecord */
#define giveOut              3      /* SealedLog.read returns */
#define openStore            4      /* Opening.opened: PostgresLocation.open */
#define openMemory           5      /* Opening.open: Remembered.init, behind the store */
#define compareOpened        6      /* Opening.open: LogView.refresh, LogView.alarm */

#define BIT(p) (1 << (p))

byte head[2]; byte generation[2];          /* of each server: the row */
byte primary; bit isFormerAlive;          /* which one is the primary */
short before[POSITIONS]; byte number[POSITIONS]; byte generationOf[POSITIONS]; byte positions = 1;    /* generationOf: the generation that a position is in */
bit deleted[4]; byte generations = 1;
byte rowLock;                       /* process + 1 */
byte transaction[PROCESSES];                        /* of each process's connection: 0 none, 1 open, 2 commit sent, 3 committed, 4 undone */
bit isLost[PROCESSES];                      /* the connection is lost to the client */
bit isUnproven;                       /* the newest commit was not waited for */
short acknowledged, givenOut, refused;
byte seen, cuts, failovers, cancels, kills;
byte at[PROCESSES], previous[PROCESSES], previousGeneration[PROCESSES], current[PROCESSES], server[PROCESSES], memo[PROCESSES]; bit isConstruction[PROCESSES]; bit isWarned[PROCESSES];

inline reset(me) { if :: rowLock == me+1 -> rowLock = 0 :: else fi;
  transaction[me] = 0; isLost[me] = 0; at[me] = idle; previous[me] = 0; previousGeneration[me] = 0; current[me] = 0; server[me] = primary; memo[me] = 0; isConstruction[me] = 0; isWarned[me] = 0 }
inline remember(p) { if :: number[seen] < number[p] -> seen = p :: else fi }
inline replicate() {                /* what a commit waits for */
  if :: failovers > 0 -> skip :: else ->
#ifdef SYNC
  if :: true -> head[1-primary] = head[primary]; generation[1-primary] = generation[primary]; isUnproven = 0
     :: cancels < CANCEL -> cancels++; isUnproven = 1; isWarned[p] = 1 fi
#else
  if :: head[1-primary] = head[primary]; generation[1-primary] = generation[primary] :: skip fi
#endif
  fi
}
/* A server carries out what a connection has sent, or finds that it is lost. */
proctype Server() {
  byte p;
  do
  :: atomic { p = 0; do :: p < PROCESSES-1 && transaction[p] != 2 -> p++ :: else -> break od;
       if :: transaction[p] == 2 ->
             if
             :: /* WHERE generation = .. AND sequence = .. AND authenticator = .. */
#ifndef PLANT_NO_COMPARISON
                head[primary] == previous[p] && generation[primary] == previousGeneration[p] ->
#else
                true ->
#endif
                head[primary] = current[p]; generation[primary] = generationOf[current[p]]; transaction[p] = 3; if :: rowLock == p+1 -> rowLock = 0 :: else fi; replicate()
             :: else -> transaction[p] = 4; if :: rowLock == p+1 -> rowLock = 0 :: else fi
             fi
          :: else -> p = 0
       fi; p = 0 }
  :: atomic { cuts < CUTS -> cuts++; p = 0; do :: p < WRITERS+COMPACTORS-1 -> p++ :: break od;
       if :: (transaction[p] == 1 || transaction[p] == 2) && !isLost[p] -> isLost[p] = 1;
             if :: transaction[p] = 4; if :: rowLock == p+1 -> rowLock = 0 :: else fi     /* before the commit arrived */
                :: transaction[p] == 2 -> skip fi                                        /* after it */
          :: transaction[p] == 3 && !isLost[p] -> isLost[p] = 1                            /* with the answer */
          :: else -> cuts-- fi; p = 0 }
  :: atomic { failovers < FAILOVER -> failovers++; p = 0;
       do :: p < PROCESSES -> if :: transaction[p] != 0 -> isLost[p] = 1; if :: transaction[p] != 3 -> transaction[p] = 4 :: else fi :: else fi; p++ :: else -> break od;
       rowLock = 0; primary = 1-primary; p = 0;
#ifdef BACK
       isFormerAlive = 1
#endif
       }
  :: atomic { kills < KILLS -> kills++; p = 0; do :: p < WRITERS+COMPACTORS-1 -> p++ :: break od; if :: at[p] != idle && transaction[p] != 2 -> reset(p) :: else -> kills-- fi; p = 0 }
  od
}
/* Writers and compactors; isCompaction: whether it writes a generation */
#define COMMITSTEPS(me, isCompaction) \
  :: atomic { at[me] == beginTransaction && LOCKFREE -> rowLock = me+1; transaction[me] = 1; previous[me] = head[primary]; previousGeneration[me] = generation[primary]; OKLOOK; at[me] = compareMemory } \
  /* The lock may be lost by now: others may have written, and raised the memory. */ \
  :: atomic { at[me] == compareMemory -> memo[me] = seen; \
       if :: (before[previous[me]] & BIT(memo[me])) != 0 -> at[me] = sendCommit :: else -> DOUBT(me) fi } \
  :: atomic { at[me] == readMemory -> memo[me] = seen; at[me] = lookAgain } \
  :: atomic { at[me] == lookAgain -> if :: (before[head[primary]] & BIT(memo[me])) == 0 -> ALARM; reset(me) :: else -> at[me] = beginTransaction fi } \
  :: atomic { at[me] == sendCommit && (transaction[me] == 4 || positions >= POSITIONS) -> reset(me) } \
  :: atomic { at[me] == sendCommit && transaction[me] == 1 && positions < POSITIONS -> current[me] = positions; positions++; number[current[me]] = number[previous[me]]+1; before[current[me]] = before[previous[me]] | BIT(current[me]); \
       if :: isCompaction -> generationOf[current[me]] = generations; isConstruction[me] = 1; generations++ :: else -> generationOf[current[me]] = previousGeneration[me] fi; transaction[me] = 2; server[me] = primary; at[me] = receiveOutcome } \
  :: atomic { at[me] == receiveOutcome && !isLost[me] && transaction[me] == 3 -> at[me] = prove } \
  :: atomic { at[me] == receiveOutcome && !isLost[me] && transaction[me] == 4 -> refuse(me); reset(me) }    /* overtaken: tried anew */ \
  :: atomic { at[me] == receiveOutcome && isLost[me] -> AFTERLOSS(me) } \
  /* a new transaction, behind the old one's lock */ \
  :: atomic { at[me] == decide && (rowLock == 0) && transaction[me] != 2 -> rowLock = me+1; isLost[me] = 0; server[me] = primary; isWarned[me] = 1; \
       if :: (isCompaction && generation[primary] == generationOf[current[me]]) || (!isCompaction && !deleted[generationOf[current[me]]] && HOLDS(me)) -> at[me] = finishDeciding \
          :: else -> if :: !isCompaction && head[primary] == previous[me] && generation[primary] == previousGeneration[me] -> transaction[me] = 2; at[me] = receiveOutcome \
                        :: else -> refuse(me); reset(me) fi fi } \
  :: atomic { at[me] == finishDeciding -> if :: rowLock == me+1 -> rowLock = 0 :: else fi; at[me] = prove } \
  :: atomic { at[me] == prove -> if :: PROOFLOST(me) -> transaction[me] = 4; at[me] = decide :: else -> PROVE; at[me] = rememberPosition fi } \
  :: atomic { at[me] == rememberPosition -> remember(current[me]); givenOut = givenOut | BIT(current[me]); at[me] = acknowledge } \
  :: atomic { at[me] == acknowledge -> acknowledged = acknowledged | BIT(current[me]); reset(me) }
#ifdef FORMER_V10
#define DOUBT(me) ALARM; reset(me)
#else
#define DOUBT(me) reset(me); at[me] = readMemory
#endif
#ifdef PLANT_NO_PROOF
#define PROOFLOST(me) false
#else
#define PROOFLOST(me) (isWarned[me] && server[me] != primary)
#endif
#define HOLDS(me) ((before[head[primary]] & BIT(current[me])) != 0)
#ifdef WEAK_LOCK
#define LOCKFREE true
#else
#define LOCKFREE (rowLock == 0)
#endif
#ifdef PLANT_ASSUME_FAILED
#define AFTERLOSS(me) refuse(me); reset(me)
#else
#define AFTERLOSS(me) at[me] = decide
#endif
#if defined(SYNC) && !defined(PLANT_NO_PROOF)
#define PROVE if :: isUnproven && failovers == 0 -> head[1-primary] = head[primary]; generation[1-primary] = generation[primary]; isUnproven = 0 :: else fi
#else
#define PROVE skip
#endif
inline refuse(me) {
#ifdef PLANT_DISCARD
  if :: isConstruction[me] -> deleted[generationOf[current[me]]] = 1 :: else fi;
#endif
  refused = refused | BIT(current[me]) }
#ifdef SYNC
#define SYNCED assert((acknowledged & ~before[head[primary]]) == 0)
#else
#define SYNCED skip
#endif
#define ALARM SYNCED; assert((givenOut & ~before[head[primary]]) != 0 || (acknowledged & ~before[head[primary]]) != 0)
#ifdef SYNC
#define OKLOOK assert(!deleted[generation[primary]]); assert((refused & before[head[primary]]) == 0); assert((acknowledged & ~before[head[primary]]) == 0)
#else
#define OKLOOK assert(!deleted[generation[primary]]); assert((refused & before[head[primary]]) == 0); assert((acknowledged & ~before[head[primary]]) == 0 || failovers > 0)
#endif

proctype Writer(byte me) {
  server[me] = 0;
  do
  :: atomic { at[me] == idle && positions < POSITIONS -> memo[me] = seen; at[me] = beginTransaction }
  COMMITSTEPS(me, 0)
  od
}
proctype Compactor(byte me) {
  do
  :: atomic { at[me] == idle && positions < POSITIONS && generations < 3 -> memo[me] = seen; at[me] = beginTransaction }
  COMMITSTEPS(me, 1)
  od
}
#ifdef PLANT_NO_TURN
#define OLDER(me) false
#else
#define OLDER(me) (number[memo[me]] > number[current[me]] && server[me] != primary)
#endif
/* LogView.alarm of a reader: the server that is asked lacks something */
inline alarm(me) {
  assert(((givenOut | acknowledged) & ~before[head[server[me]]]) != 0);
#ifdef BACK
#ifndef ASYNC_DIVERGES
  assert(server[me] == primary || (before[head[primary]] & BIT(memo[me])) == 0 || (before[head[primary]] & BIT(current[me])) == 0);      /* none because of a former primary that is only older */
#else
  assert(server[me] == primary || (before[head[primary]] & BIT(memo[me])) == 0);
#endif
#endif
  at[me] = idle; current[me] = 0; memo[me] = 0; previousGeneration[me] = 0
}
proctype Reader(byte me) {
  do
  :: atomic { at[me] == idle -> server[me] = primary; if :: isFormerAlive -> server[me] = 1-primary :: skip fi; at[me] = openStore }
  :: atomic { at[me] == openStore -> current[me] = head[server[me]]; previousGeneration[me] = generation[server[me]]; at[me] = openMemory }
  :: atomic { at[me] == openMemory -> memo[me] = seen; at[me] = compareOpened }
  :: atomic { at[me] == compareOpened ->
       if :: (before[current[me]] & BIT(memo[me])) == 0 && generation[server[me]] == previousGeneration[me] -> current[me] = head[server[me]] :: else fi;
       if :: (before[current[me]] & BIT(memo[me])) != 0 -> at[me] = rememberRead
          :: (before[current[me]] & BIT(memo[me])) == 0 && OLDER(me) -> server[me] = primary; at[me] = openStore
#ifndef FORMER_V11
          :: (before[current[me]] & BIT(memo[me])) == 0 && !OLDER(me) && generation[server[me]] != previousGeneration[me] -> at[me] = openStore      /* isStillCurrent */
          :: (before[current[me]] & BIT(memo[me])) == 0 && !OLDER(me) && generation[server[me]] == previousGeneration[me] -> alarm(me)
#else
          :: (before[current[me]] & BIT(memo[me])) == 0 && !OLDER(me) -> alarm(me)
#endif
       fi }
  :: atomic { at[me] == idle -> memo[me] = seen; server[me] = primary; if :: isFormerAlive -> server[me] = 1-primary :: skip fi; at[me] = look }
  :: atomic { at[me] == look -> current[me] = head[server[me]];
       if :: OLDER(me) -> server[me] = primary                                        /* older: the next server */
          :: !OLDER(me) && (before[current[me]] & BIT(memo[me])) == 0 -> alarm(me)
          :: else -> assert(!deleted[generation[server[me]]]); at[me] = rememberRead fi }
  :: atomic { at[me] == rememberRead -> remember(current[me]); givenOut = givenOut | BIT(current[me]); at[me] = giveOut }
  :: atomic { at[me] == giveOut -> givenOut = givenOut | BIT(current[me]); at[me] = idle; current[me] = 0; memo[me] = 0; previousGeneration[me] = 0 }
  od
}
init { atomic { byte n = 0; before[0] = 1;
  do :: n < WRITERS -> run Writer(n); n++ :: else -> break od;
  do :: n < WRITERS+COMPACTORS -> run Compactor(n); n++ :: else -> break od;
  do :: n < PROCESSES -> run Reader(n); n++ :: else -> break od;
  run Server() } }
