/* The files of one vault on one machine: compactions and changes of the keys beside writers and readers; Format.md, "Writing".

   Each atomic block is one system call, or what a process does between two of them. It names the Swift function.
   A file is a list of log positions: append.pml has how a record is written, so here one is there or not. Changes of the
   folder last in their order: after a power loss, any number of the first ones is there.

   Sizes:     WRITERS READERS COMPACTORS POSITIONS (records, notices and headers) FILES
   Accidents: KILLS POWER (losses) FOLDER_FAILS (failing flushes of the folder)
   More:      KEYS (a change that is reported as done has to last) MEMBERS (compactions change the members)
   Former behaviour, in which violations are found: FORMER_V4 FORMER_V8 FORMER_V9
   Planted bugs: PLANT_... below; the counterparts are in checks.txt */
#include "events.pml"
#ifndef COMPACTORS
#define COMPACTORS 1
#endif
#ifndef WRITERS
#define WRITERS 1
#endif
#ifndef READERS
#define READERS 1
#endif
#ifndef KILLS
#define KILLS 1
#endif
#ifndef POWER
#define POWER 1
#endif
#ifndef FOLDER_FAILS
#define FOLDER_FAILS 0
#endif
#ifndef POSITIONS
#define POSITIONS 6
#endif
#ifndef FILES
#define FILES 2
#endif
#define PROCESSES (COMPACTORS + WRITERS + READERS)
#define MOST 4                  /* records of a file */
#define NONE 15
#define BIT(p) (1 << (p))

/* steps of a process, by the Swift function that each stands for */
#define idle 0
#define openToWrite 1           /* SealedLog.lockForWriting: the view's store */
#define lockForWriting 2        /* SealedLog.lockForWriting: the lock */
#define makeReady 3             /* SealedLog.lockForWriting: isCurrent, makeReady */
#define flushName 4             /* SealedLog.flushName, before a record */
#define compareMembers 5        /* SealedLog.signingKey: compare */
#define rememberMembers 6       /* RollbackMemory.remember(members:) */
#define append 7                /* FileRecordStore.append: write */
#define flushRecord 8           /* FileRecordStore.append: synchronize */
#define rememberRecord 9        /* SealedLog.append: memory.remember */
#define acknowledge 10          /* SealedLog.commit returns */
#define makeReplacement 11      /* FileRecordStore.makeReplacement; the lock is released */
#define copyTail 12             /* Compactor.copyCheckpoint, copyTail: without the lock */
#define lockForNotice 13        /* SealedLog.compact: lockForWriting again */
#define readLastRecords 14      /* Compactor.readLastRecords */
#define appendNotice 15         /* SealedLog.announce */
#define flushNotice 16
#define rememberNotice 17
#define finish 18               /* Compactor.finish, SealedLog.publish: synchronize */
#define publish 19              /* FileRecordStore.publish: the rename */
#define flushNewName 20         /* SealedLog.publish: flushName */
#define rememberHeader 21       /* SealedLog.publish: memory.remember */
#define finishCompaction 22     /* SealedLog.compact returns */
#define lookAtPath 30           /* SealedLog.refresh: a notice makes a reader look at the path */
#define reopen 31               /* SealedLog.replaceView */
#define lockToRead 32           /* StoreLock.toRead */
#define readResult 33           /* SealedLog.read: body */
#define reopenToConfirm 34      /* SealedLog.confirm: reopened */
#define lockToConfirm 35
#define flushToRead 36          /* SealedLog.flush: synchronize and flushName */
#define rememberRead 37         /* SealedLog.confirm: memory.remember */
#define giveOut 38              /* SealedLog.read returns */
#define compareRead 39          /* SealedLog.members: compare */
#define rememberReadMembers 40

/* the folder */
byte path, unpublished = NONE;  /* what the names lead to, as the system shows it */
byte pathDisk, renamed[2], renames;     /* ... on the disk, and the renames that are not flushed, in order */
byte pathRecord = NONE;         /* .path: the file whose name is known to be flushed */
/* files */
byte record[FILES * MOST], records[FILES], flushed[FILES];      /* their positions; how many are on the disk */
byte header[FILES]; bit isWhole[FILES], isWholeDisk[FILES], isReported[FILES];
byte members[FILES];            /* how often the members have changed */
byte exclusive[FILES], sharers[FILES];
/* positions: number, kind, and all positions up to and with this one */
byte number[POSITIONS]; bit isRecord[POSITIONS], isNotice[POSITIONS]; short before[POSITIONS];
byte positions = 1, files = 1;
short acknowledged, givenOut;   /* sets of positions */
byte seen, seenDisk, landmarks, landmarksDisk;
byte kills, powers, folderFails;

/* processes */
byte at[PROCESSES], file[PROCESSES], shown[PROCESSES], memo[PROCESSES], memoMembers[PROCESSES], current[PROCESSES], old[PROCESSES], new[PROCESSES], tail[PROCESSES], isShared[PROCESSES];
bit isOpen[PROCESSES], isMemberChange[PROCESSES], isNameFlushed[PROCESSES]; short asked[PROCESSES];
byte h, i; bit isAlarm;         /* 0 between steps */

inline headOf(x) { if :: records[x] == 0 -> h = header[x] :: else -> h = record[x * MOST + records[x] - 1] fi }
inline tidy() { h = 0; i = 0; isAlarm = 0 }
/* LogView.alarm after a look while no process can write, and what must hold then */
inline judge(me) {
  headOf(path);
  isAlarm = (before[h] & BIT(memo[me])) == 0;
  assert(isWhole[path]);
  assert((acknowledged & ~before[h]) == 0);                     /* what was acknowledged is there */
  assert((givenOut & ~before[h]) == 0 || isAlarm);              /* what was given out is there, or there is an alarm */
  assert(!isAlarm || (givenOut & ~before[h]) != 0)              /* no false alarm */
}
inline newPosition(x, record_, notice) {        /* behind the head of file x; sets i */
  headOf(x); i = positions; positions++; number[i] = number[h] + 1; isRecord[i] = record_; isNotice[i] = notice; before[i] = before[h] | BIT(i)
}
inline appendTo(x, record_, notice) { newPosition(x, record_, notice); record[x * MOST + records[x]] = i; records[x]++ }
inline flushFolder() { pathDisk = path; renames = 0; renamed[0] = 0; renamed[1] = 0 }
inline flushNameOf(x) { if :: pathRecord != x -> flushFolder(); pathRecord = x :: else fi }
inline remember(p) { if :: number[seen] < number[p] -> seen = p :: else fi }
inline unlockAll(me) {
  i = 0; do :: i < FILES -> if :: exclusive[i] == me + 1 -> exclusive[i] = 0 :: else fi; i++ :: else -> break od; i = 0;
  if :: isShared[me] != 0 -> sharers[isShared[me] - 1]--; isShared[me] = 0 :: else fi
}
inline reset(me) {
  unlockAll(me); at[me] = idle; file[me] = 0; shown[me] = 0; isOpen[me] = 0; memo[me] = 0; memoMembers[me] = 0; current[me] = 0;
  old[me] = 0; new[me] = 0; tail[me] = 0; asked[me] = 0; isMemberChange[me] = 0; isNameFlushed[me] = 0
}
inline discard(me) { if :: unpublished == new[me] -> unpublished = NONE :: else fi; reset(me) }
/* SealedLog.compare: no removal is missing that this machine has seen. Nothing is rolled back here, so that is no alarm. */
inline compare(me) { assert(memoMembers[me] <= members[file[me]]) }
inline rememberList(me) {
#ifdef FORMER_V9
  assert(members[file[me]] >= landmarks); landmarks = members[file[me]]
#else
  if :: members[file[me]] > landmarks -> landmarks = members[file[me]] :: else fi
#endif
}
#ifdef PLANT_NO_PATH_CHECK
#define IS_CURRENT(me) true
#else
#define IS_CURRENT(me) (file[me] == path)
#endif
#define FREE(x) (exclusive[x] == 0 && sharers[x] == 0)
#ifdef MEMBERS
#define AFTER_NAME compareMembers
#define AFTER_CONFIRMED compareRead
#else
#define AFTER_NAME append
#define AFTER_CONFIRMED giveOut
#endif
#ifdef PLANT_MEMBERS_FIRST
#define AFTER_READY compareMembers
#else
#define AFTER_READY flushName
#endif

/* SealedLog.lockForWriting with makeReady, the first steps of each writer and compactor; goes on at `then` */
#define LOCK_STEPS(then) \
  :: atomic { at[me] == openToWrite -> memo[me] = seen; if :: !isOpen[me] -> file[me] = path; isOpen[me] = 1 :: else fi; at[me] = lockForWriting } \
  :: atomic { at[me] == lockForWriting && FREE(file[me]) -> exclusive[file[me]] = me + 1; at[me] = makeReady } \
  :: atomic { at[me] == makeReady -> \
       if \
       :: !IS_CURRENT(me) -> exclusive[file[me]] = 0; memo[me] = seen; file[me] = path; at[me] = lockForWriting \
       :: else -> flushed[file[me]] = records[file[me]]; memo[me] = seen; JUDGE(me); at[me] = then \
       fi; tidy() }
#ifdef PLANT_NO_PATH_CHECK
#define JUDGE(me) skip
#else
#define JUDGE(me) judge(me)
#endif

proctype Writer(byte me) {
  do
  :: atomic { at[me] == idle && positions < POSITIONS -> at[me] = openToWrite }
  LOCK_STEPS(AFTER_READY)
  /* What is remembered counts after a power loss: the file has to be there then. */
  :: atomic { at[me] == flushName ->
       if
       :: records[file[me]] == MOST || positions == POSITIONS -> reset(me)
       :: else ->
#ifndef PLANT_NAME_UNFLUSHED
          flushNameOf(file[me]);
#endif
#ifdef PLANT_MEMBERS_FIRST
          at[me] = append
#else
          at[me] = AFTER_NAME
#endif
       fi }
#ifdef MEMBERS
  :: atomic { at[me] == compareMembers -> memoMembers[me] = landmarks; compare(me); at[me] = rememberMembers }
#ifdef PLANT_MEMBERS_FIRST
  :: atomic { at[me] == rememberMembers -> rememberList(me); at[me] = flushName }
#else
  :: atomic { at[me] == rememberMembers -> rememberList(me); at[me] = append }
#endif
#endif
  :: atomic { at[me] == append -> if :: positions == POSITIONS -> reset(me) :: else -> appendTo(file[me], 1, 0); current[me] = i; tidy(); at[me] = flushRecord fi }
  :: atomic { at[me] == flushRecord -> flushed[file[me]] = records[file[me]]; at[me] = rememberRecord }
  :: atomic { at[me] == rememberRecord -> remember(current[me]); at[me] = acknowledge }
  :: atomic { at[me] == acknowledge -> acknowledged = acknowledged | BIT(current[me]); exclusive[file[me]] = 0; at[me] = idle; current[me] = 0; memo[me] = 0; memoMembers[me] = 0;
       if :: reset(me) :: skip fi }     /* a command ends, a program goes on */
  :: atomic { at[me] == idle && positions == POSITIONS -> break }
  od
}

proctype Compactor(byte me) {
  do
  :: atomic { at[me] == idle && files < FILES && positions + 2 <= POSITIONS -> isOpen[me] = 0; at[me] = openToWrite }
  LOCK_STEPS(flushName)
  /* The notice will count as seen: its file has to be the one that is found after a power loss. */
  :: atomic { at[me] == flushName -> old[me] = file[me];
#ifndef PLANT_BEGUN_UNFLUSHED
       flushNameOf(file[me]);
#endif
       at[me] = makeReplacement }
  /* one that a killed process has left is removed; one that is being written is locked */
  :: atomic { at[me] == makeReplacement ->
       if
       :: files == FILES || (unpublished != NONE && exclusive[unpublished] != 0) -> reset(me)         /* busy */
       :: else ->
          new[me] = files; files++; unpublished = new[me]; header[new[me]] = NONE; exclusive[new[me]] = me + 1;
#ifdef MEMBERS
          if :: isMemberChange[me] = 1 :: skip fi;
#endif
          tail[me] = records[file[me]]; exclusive[file[me]] = 0; at[me] = copyTail
       fi }
  :: atomic { at[me] == copyTail -> tail[me] = records[old[me]]; at[me] = lockForNotice }
  :: atomic { at[me] == lockForNotice && FREE(file[me]) -> exclusive[file[me]] = me + 1; at[me] = readLastRecords }
  :: atomic { at[me] == readLastRecords ->
       if
       :: !IS_CURRENT(me) || positions == POSITIONS || records[file[me]] == MOST -> discard(me)       /* conflict */
       :: else ->
          flushed[file[me]] = records[file[me]]; memo[me] = seen;
#ifndef PLANT_TAIL_LEFT
          tail[me] = records[file[me]];
#endif
          JUDGE(me); at[me] = appendNotice
       fi; tidy() }
  :: atomic { at[me] == appendNotice -> appendTo(file[me], 0, 1); current[me] = i; tidy(); at[me] = flushNotice }
  :: atomic { at[me] == flushNotice -> flushed[file[me]] = records[file[me]]; at[me] = rememberNotice }
  :: atomic { at[me] == rememberNotice -> remember(current[me]); at[me] = finish }
  /* The header's history is that of the notice; what was not copied is missing. */
  :: atomic { at[me] == finish ->
       if
       :: positions == POSITIONS -> discard(me)
       :: else ->
          newPosition(file[me], 0, 0); header[new[me]] = i; isWhole[new[me]] = 1; members[new[me]] = members[file[me]] + isMemberChange[me];
          h = tail[me];
          do
          :: h < records[file[me]] -> if :: isRecord[record[file[me] * MOST + h]] -> before[i] = before[i] & ~BIT(record[file[me] * MOST + h]) :: else fi; h++
          :: else -> break
          od;
          tidy();
#ifndef PLANT_CONTENT_UNFLUSHED
          isWholeDisk[new[me]] = 1;
#endif
          at[me] = publish
       fi }
  :: atomic { at[me] == publish ->
       if
       :: !IS_CURRENT(me) || unpublished != new[me] -> discard(me)
       :: else -> path = new[me]; unpublished = NONE; renamed[renames] = new[me]; renames++;
#ifdef PLANT_REMEMBER_FIRST
          remember(header[new[me]]);
#endif
          at[me] = flushNewName
       fi }
  /* If this fails, the outcome is unknown: until the name is flushed, a power loss may bring the old file back. */
  :: atomic { at[me] == flushNewName ->
       if
#ifdef PLANT_NAME_UNFLUSHED
       :: isNameFlushed[me] = 1
#else
       :: flushFolder(); pathRecord = new[me]; isNameFlushed[me] = 1
       :: folderFails < FOLDER_FAILS -> folderFails++
#endif
       fi; at[me] = rememberHeader }
  :: atomic { at[me] == rememberHeader -> if :: isNameFlushed[me] -> remember(header[new[me]]) :: else fi; at[me] = finishCompaction }
  :: atomic { at[me] == finishCompaction ->
#ifndef FORMER_V4
       if :: isNameFlushed[me] -> isReported[new[me]] = 1 :: else fi;
#else
       isReported[new[me]] = 1;
#endif
       reset(me) }
  :: atomic { at[me] == idle && (files == FILES || positions + 2 > POSITIONS) -> break }
  od
}

proctype Reader(byte me) {
  do
  :: atomic { at[me] == idle -> asked[me] = acknowledged; memo[me] = seen; memoMembers[me] = landmarks;
       if
       :: !isOpen[me] -> file[me] = path; isOpen[me] = 1; headOf(path); isAlarm = (before[h] & BIT(memo[me])) == 0;
          shown[me] = records[path]; if :: isAlarm -> at[me] = reopen :: else -> at[me] = lookAtPath fi
       :: else -> shown[me] = records[file[me]]; at[me] = lookAtPath
       fi; tidy() }
  :: atomic { at[me] == lookAtPath ->
       if
#ifndef PLANT_NO_LOOK
       :: shown[me] > 0 && isNotice[record[file[me] * MOST + shown[me] - 1]] && file[me] != path -> at[me] = reopen
#endif
       :: else -> at[me] = readResult
       fi }
  :: atomic { at[me] == reopen -> memo[me] = seen; memoMembers[me] = landmarks; file[me] = path; at[me] = lockToRead }
  :: atomic { at[me] == lockToRead && exclusive[file[me]] == 0 ->
       if :: file[me] != path -> at[me] = reopen :: else -> judge(me); shown[me] = records[file[me]]; at[me] = readResult fi; tidy() }
  :: atomic { at[me] == readResult ->
       h = header[file[me]]; if :: shown[me] > 0 -> h = record[file[me] * MOST + shown[me] - 1] :: else fi; current[me] = h;
       assert((asked[me] & ~before[h]) == 0);                   /* a read shows what was acknowledged before it began */
       if :: seen == h -> at[me] = AFTER_CONFIRMED :: else -> at[me] = reopenToConfirm fi; tidy() }
  :: atomic { at[me] == reopenToConfirm -> if :: path != file[me] -> at[me] = reopen :: else -> at[me] = lockToConfirm fi }
  :: atomic { at[me] == lockToConfirm && exclusive[file[me]] == 0 -> sharers[file[me]]++; isShared[me] = file[me] + 1;
       if :: path != file[me] -> unlockAll(me); at[me] = reopen :: else -> at[me] = flushToRead fi }
  :: atomic { at[me] == lockToConfirm && exclusive[file[me]] != 0 ->
       if
       :: seen == current[me] -> at[me] = AFTER_CONFIRMED
       :: seen != current[me] && records[file[me]] > shown[me] -> remember(current[me]); at[me] = AFTER_CONFIRMED     /* another record follows */
       :: else -> reset(me)                                     /* busy: the lock timeout is over */
       fi }
  :: atomic { at[me] == flushToRead ->
       if
       :: flushed[file[me]] = records[file[me]]; flushNameOf(file[me]); at[me] = rememberRead
       :: folderFails < FOLDER_FAILS && pathRecord != file[me] -> folderFails++; reset(me)            /* the read fails */
       fi }
  :: atomic { at[me] == rememberRead -> remember(current[me]); unlockAll(me); at[me] = AFTER_CONFIRMED }
#ifdef MEMBERS
  :: atomic { at[me] == compareRead ->
#ifdef FORMER_V8
       memoMembers[me] = landmarks;
#endif
       compare(me); at[me] = rememberReadMembers }
  :: atomic { at[me] == rememberReadMembers -> rememberList(me); at[me] = giveOut }
#endif
  :: atomic { at[me] == giveOut -> givenOut = givenOut | before[current[me]]; asked[me] = 0; current[me] = 0; memo[me] = 0; memoMembers[me] = 0; at[me] = idle; if :: reset(me) :: skip fi }
  :: atomic { at[me] == idle && positions + 1 >= POSITIONS -> break }
  od
}

proctype Accidents() {
  byte p; byte q;
  do
  :: atomic { kills < KILLS -> kills++; p = 0; do :: p < PROCESSES - 1 -> p++ :: break od; if :: at[p] != idle -> reset(p) :: else -> kills-- fi; p = 0 }
  :: atomic { powers < POWER -> powers++;
       p = 0; do :: p < PROCESSES -> reset(p); p++ :: else -> break od; p = 0;
       q = 0; do :: q < renames -> pathDisk = renamed[q]; q++ :: break od;              /* any number of the folder's changes */
       path = pathDisk; renames = 0; renamed[0] = 0; renamed[1] = 0; unpublished = NONE;
       if :: pathRecord == path || pathRecord == NONE :: else -> if :: skip :: pathRecord = NONE fi fi;
       isWhole[path] = isWhole[path] && isWholeDisk[path];
       p = flushed[path]; do :: p < records[path] -> p++ :: break od;                   /* any number of its records */
       q = p; do :: q < records[path] -> record[path * MOST + q] = 0; q++ :: else -> break od;
       records[path] = p; flushed[path] = p; p = 0; q = 0;
       if :: seenDisk = seen :: seen = seenDisk fi;
       if :: landmarksDisk = landmarks :: landmarks = landmarksDisk fi;
#ifdef KEYS                     /* a rotation, or a removed key, that was reported as done */
       p = 0; do :: p < FILES -> assert(!isReported[p] || path >= p); p++ :: else -> break od; p = 0
#endif
       }
  :: atomic { kills == KILLS && powers == POWER -> break }
  od
}
init { atomic { byte n = 0; before[0] = 1; isWhole[0] = 1; isWholeDisk[0] = 1;
  do :: n < COMPACTORS -> run Compactor(n); n++ :: else -> break od;
  do :: n < COMPACTORS + WRITERS -> run Writer(n); n++ :: else -> break od;
  do :: n < PROCESSES -> run Reader(n); n++ :: else -> break od;
  run Accidents() } }
