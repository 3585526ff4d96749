/* Changes that are made while no server answers: a file of their own, merged later by the first process that finds it; Format.md, "In a database".

   The database is a set of changes, and so is each file. This machine has always kept all of the database. Two
   processes: each may write or read, and compact the file. One that finds the server and the file merges it first.

   Accidents:    KILLS POWER (of the machine)
   Former behaviour, in which a violation is found: FORMER_V12 FORMER_V14 FORMER_V15 FORMER_V16
   Planted bugs: PLANT_MERGE_UNLOCKED PLANT_REMOVE_FIRST PLANT_NO_PATH_CHECK PLANT_NOT_REOPENED */
#ifndef KILLS
#define KILLS 1
#endif
#ifndef POWER
#define POWER 1
#endif
#define PROCESSES 2
#define FILES     4
#define CHANGES   3

#define idle                 0
#define lockPending          1      /* PostgresRecordStore.lock: the pending file's lock */
#define lookAtPath           2      /* SealedLog.lockForWriting: isCurrent */
#define append               3      /* SealedLog.append */
#define lockToMerge          4      /* SealedLog.mergePending: the lock */
#define readPending          5      /* SealedLog.mergePending: isCurrent, the copy is read */
#define compareHeads         6      /* SealedLog.merge: what this history includes has nothing new */
#define mergeEntries         7      /* SealedLog.merge: one record in the database */
#define removePending        8      /* SealedLog.mergePending: the file is removed */
#define flushRemoval         9      /* SealedLog.mergePending: its folder is flushed */
#define answer              10      /* KeychainOpening.open: the log is read */

bit isServerUp = 1; byte turns;
short database;              /* the changes in the database */
short remembered;            /* of the vault, by this machine */
bit isThere; byte inode; short file[FILES]; short disk[FILES]; byte inodes = 1;
bit isPending[FILES];        /* the file says that it waits to be merged: what is in it is not remembered as the vault's */
bit isRemovalUnflushed; byte removed;
byte remover;                /* who removes a file and has not returned; it may have been killed */
byte lock[FILES]; short acknowledged; byte changes; byte kills, powers;
short unsure;                /* written online while a file was being removed, that may come back */
byte at[PROCESSES]; byte begun[PROCESSES]; short found[PROCESSES];
short known[PROCESSES];      /* what was acknowledged before a reading began */
short view[PROCESSES];       /* what the log shows */
byte q;

inline check() { assert((acknowledged & ~(database | (isThere -> file[inode] : 0))) == 0) }   /* what was acknowledged is here or there */
inline reset(me) {
  check(); q = 0;
  do :: q < FILES -> if :: lock[q] == me+1 -> lock[q] = 0 :: else fi; q++ :: else -> break od;
  q = 0; at[me] = idle; begun[me] = 0; found[me] = 0; known[me] = 0; view[me] = 0
}
inline acknowledge() { acknowledged = acknowledged | (1 << changes); changes++ }
inline openDatabase(me) { assert((remembered & ~database) == 0); remembered = remembered | database; view[me] = database }    /* no false alarm */
inline openAny(me) { if :: isServerUp -> openDatabase(me) :: !isServerUp && isThere -> view[me] = file[inode] :: else -> view[me] = database fi }

proctype Process(byte me) {
  do
  /* A writer without the server: PostgresLocation.beginPending, or the file that is there. */
  :: atomic { at[me] == idle && !isServerUp && changes < CHANGES && (isThere || inodes < FILES) ->
       if
       :: !isThere -> inode = inodes; inodes++; file[inode] = database; disk[inode] = database; isPending[inode] = 1; isThere = 1; isRemovalUnflushed = 0
       :: else
       fi; begun[me] = inode; at[me] = lockPending }
  :: atomic { at[me] == lockPending && lock[begun[me]] == 0 -> lock[begun[me]] = me+1; at[me] = lookAtPath }
  :: atomic { at[me] == lookAtPath ->
#ifdef PLANT_NO_PATH_CHECK
       at[me] = append }
#else
       if :: isThere && inode == begun[me] -> at[me] = append :: else -> reset(me) fi }      /* it was merged meanwhile: an error */
#endif
  /* FileRecordStore.makeReplacement; flushed and published at once. */
  :: atomic { at[me] == append && inodes < FILES && isThere && inode == begun[me] ->
       inode = inodes; inodes++; file[inode] = file[begun[me]]; disk[inode] = file[inode]; lock[inode] = me+1;
#ifndef FORMER_V15
       isPending[inode] = isPending[begun[me]];
#endif
       begun[me] = inode }
  :: atomic { at[me] == append ->
       if :: changes < CHANGES -> file[begun[me]] = file[begun[me]] | (1 << changes); disk[begun[me]] = file[begun[me]]; acknowledge() :: else fi;
       if :: isPending[begun[me]] :: else -> remembered = remembered | file[begun[me]] fi;
       reset(me) }
  /* A writer with the server, while nothing waits. */
  :: atomic { at[me] == idle && isServerUp && !isThere && changes < CHANGES ->
       openDatabase(me); database = database | (1 << changes); remembered = remembered | database;
       if :: remover != 0 -> unsure = unsure | (1 << changes) :: else fi; acknowledge(); reset(me) }
  /* A reader. */
  :: atomic { at[me] == idle && acknowledged != 0 -> known[me] = acknowledged; openAny(me);
       if :: isServerUp && isThere -> begun[me] = inode; at[me] = lockToMerge :: else -> at[me] = answer fi }
#ifdef PLANT_MERGE_UNLOCKED
  :: atomic { at[me] == lockToMerge -> at[me] = readPending }
#else
  :: atomic { at[me] == lockToMerge && lock[begun[me]] == 0 -> lock[begun[me]] = me+1; at[me] = readPending }
#endif
  /* The lock is not free in time. */
#ifdef FORMER_V14
  :: atomic { at[me] == lockToMerge && lock[begun[me]] != 0 -> at[me] = answer }
#else
  :: atomic { at[me] == lockToMerge && lock[begun[me]] != 0 -> reset(me) }
#endif
  :: atomic { at[me] == readPending ->
       if
       :: isThere && inode == begun[me] -> found[me] = file[begun[me]]; at[me] = compareHeads
       :: isThere && inode != begun[me] -> lock[begun[me]] = 0; begun[me] = inode; at[me] = lockToMerge     /* it was compacted */
#ifdef PLANT_NOT_REOPENED
       :: !isThere -> at[me] = answer
#else
       :: !isThere -> openAny(me); at[me] = answer                                                         /* it was merged */
#endif
       fi }
  /* Without the server, the log has turned to the file itself. */
#ifdef FORMER_V12
  :: atomic { at[me] == compareHeads -> if :: isServerUp -> at[me] = mergeEntries :: else -> at[me] = removePending fi }
#else
  :: atomic { at[me] == compareHeads -> if :: isServerUp -> at[me] = mergeEntries :: else -> view[me] = file[begun[me]]; at[me] = answer fi }
#endif
#ifdef PLANT_REMOVE_FIRST
  :: atomic { at[me] == mergeEntries -> isThere = 0; isRemovalUnflushed = 1; removed = begun[me]; at[me] = removePending }
  :: atomic { at[me] == removePending -> if :: isServerUp -> database = database | found[me]; reset(me) :: else -> reset(me) fi }
#else
  /* The entries, then what was merged. */
  :: atomic { at[me] == mergeEntries ->
       if
       :: isServerUp -> database = database | found[me]; remembered = remembered | database; view[me] = database; at[me] = removePending
       :: else -> view[me] = file[begun[me]]; at[me] = answer
       fi }
  :: atomic { at[me] == removePending ->
       if :: isThere && inode == begun[me] -> isThere = 0; isRemovalUnflushed = 1; removed = begun[me]; remover = me+1 :: else fi;
#ifdef FORMER_V16
       at[me] = answer }
#else
       at[me] = flushRemoval }
  :: atomic { at[me] == flushRemoval -> isRemovalUnflushed = 0; at[me] = answer }
#endif
#endif
  :: atomic { at[me] == answer -> 
       assert((known[me] & ~unsure & ~view[me]) == 0);         /* a reader returns what was acknowledged before it began */
       if :: remover == me+1 -> remover = 0 :: else fi; reset(me) }
  od
}

proctype Accidents() {
  byte p;
  do
  :: atomic { turns < 3 -> isServerUp = 1-isServerUp; turns++ }
  :: atomic { kills < KILLS -> kills++; p = 0; do :: p < PROCESSES-1 -> p++ :: break od;
       if :: remover == p+1 -> remover = PROCESSES+1 :: else fi; reset(p); p = 0 }
  :: atomic { powers < POWER -> powers++; reset(0); reset(1);
       if :: isRemovalUnflushed && !isThere -> if :: isThere = 1; inode = removed :: skip fi :: else fi; isRemovalUnflushed = 0; remover = 0;
       p = 0; do :: p < FILES -> file[p] = disk[p]; p++ :: else -> break od; p = 0 }
  od
}
init { atomic { run Process(0); run Process(1); run Accidents() } }
