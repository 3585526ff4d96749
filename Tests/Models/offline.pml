/* Changes that are made while no server answers: a file of their own, merged later by the first process that finds it; Format.md, "In a database".

   The database is a set of changes. Two processes; each may write without the server, or merge once it answers.

   Accidents:    KILLS POWER (of the machine; the removal of the file is not flushed)
   Former behaviour, in which a violation is found: FORMER_V12
   Planted bugs: PLANT_MERGE_UNLOCKED PLANT_REMOVE_FIRST PLANT_NO_PATH_CHECK */
#ifndef KILLS
#define KILLS 1
#endif
#ifndef POWER
#define POWER 1
#endif
#define PROCESSES 2

#define idle                 0
#define lockPending          1      /* PostgresRecordStore.lock: the pending file's lock */
#define lookAtPath           2      /* SealedLog.lockForWriting: isCurrent */
#define append               3      /* SealedLog.append */
#define lockToMerge          4      /* SealedLog.mergePending: the lock */
#define readPending          5      /* SealedLog.mergePending: isCurrent, the copy is read */
#define mergeEntries         6      /* SealedLog.merge: one record in the database */
#define compareHeads         8      /* SealedLog.merge: what this history includes has nothing new */
#define removePending        7      /* SealedLog.mergePending: the file is removed */

bit isServerUp = 1; byte turns;
short database;              /* the changes in the database */
bit isThere; byte inode; short file[4]; short disk[4]; byte inodes = 1; bit isRemovalUnflushed; byte removed;
byte lock[4]; short acknowledged; byte changes; byte kills, powers;
byte at[PROCESSES]; byte begun[PROCESSES]; short found[PROCESSES];
byte q;
inline check() { assert((acknowledged & ~(database | (isThere -> file[inode] : 0))) == 0) }   /* what was acknowledged is here or there */
inline reset(me) { check(); q = 0; do :: q < 4 -> if :: lock[q] == me+1 -> lock[q] = 0 :: else fi; q++ :: else -> break od; q = 0; at[me] = idle; begun[me] = 0; found[me] = 0 }
proctype Process(byte me) {
  do
  :: atomic { at[me] == idle && !isServerUp && changes < 4 && (isThere || inodes < 4) ->           /* PostgresPlace.beginPending, or the file that is there */
       if :: !isThere -> inode = inodes; inodes++; file[inode] = database; disk[inode] = database; isThere = 1; isRemovalUnflushed = 0 :: else fi; begun[me] = inode; at[me] = lockPending }
  :: atomic { at[me] == lockPending && lock[begun[me]] == 0 -> lock[begun[me]] = me+1; at[me] = lookAtPath }
  :: atomic { at[me] == lookAtPath ->
#ifdef PLANT_NO_PATH_CHECK
       at[me] = append }
#else
       if :: isThere && inode == begun[me] -> at[me] = append :: else -> reset(me) fi }      /* it was merged meanwhile: an error */
#endif
  :: atomic { at[me] == append -> if :: changes < 4 -> file[begun[me]] = file[begun[me]] | (1 << changes); disk[begun[me]] = file[begun[me]]; acknowledged = acknowledged | (1 << changes); changes++ :: else fi; reset(me) }
  :: atomic { at[me] == idle && isServerUp && isThere -> begun[me] = inode; at[me] = lockToMerge }
#ifdef PLANT_MERGE_UNLOCKED
  :: atomic { at[me] == lockToMerge -> at[me] = readPending }
#else
  :: atomic { at[me] == lockToMerge && lock[begun[me]] == 0 -> lock[begun[me]] = me+1; at[me] = readPending }
#endif
  :: atomic { at[me] == readPending -> if :: isThere && inode == begun[me] -> found[me] = file[begun[me]]; at[me] = compareHeads :: else -> reset(me) fi }
  /* Without the server, the log has turned to the file itself. */
#ifdef FORMER_V12
  :: atomic { at[me] == compareHeads -> if :: isServerUp -> at[me] = mergeEntries :: else -> at[me] = removePending fi }
#else
  :: atomic { at[me] == compareHeads -> if :: isServerUp -> at[me] = mergeEntries :: else -> reset(me) fi }
#endif
#ifdef PLANT_REMOVE_FIRST
  :: atomic { at[me] == mergeEntries -> isThere = 0; isRemovalUnflushed = 1; removed = begun[me]; at[me] = removePending }
  :: atomic { at[me] == removePending -> if :: isServerUp -> database = database | found[me]; reset(me) :: else -> reset(me) fi }
#else
  :: atomic { at[me] == mergeEntries -> if :: isServerUp -> database = database | found[me]; at[me] = removePending :: else -> reset(me) fi }       /* entries, then what was merged */
  :: atomic { at[me] == removePending -> if :: isThere && inode == begun[me] -> isThere = 0; isRemovalUnflushed = 1; removed = begun[me] :: else fi; reset(me) }
#endif
  od
}
proctype Accidents() {
  byte p;
  do
  :: atomic { turns < 3 -> isServerUp = 1-isServerUp; turns++ }
  :: atomic { kills < KILLS -> kills++; p = 0; do :: p < PROCESSES-1 -> p++ :: break od; reset(p); p = 0 }
  :: atomic { powers < POWER -> powers++; reset(0); reset(1); if :: isRemovalUnflushed && !isThere -> if :: isThere = 1; inode = removed :: skip fi :: else fi; isRemovalUnflushed = 0; p = 0; do :: p < 4 -> file[p] = disk[p]; p++ :: else -> break od; p = 0 }
  od
}
init { atomic { run Process(0); run Process(1); run Accidents() } }
