/* The files of one vault on one machine: compactions and changes of the keys beside writers and readers; Format.md, "Writing".

   Each atomic block is one system call, or what a process does between two of them. It names the Swift function.
   A file is a list of log positions: append.pml has how a record is written, so here one is there or not. Changes of the
   folder last in their order: after a power loss, any number of the first ones is there. With TRACE, each process does all
   that the trace shows, until a call fails that append.pml is about.

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
#ifndef MOST
#define MOST 4                  /* records of a file */
#endif
#ifdef TRACE
#define WRITES true
#define COMPACTS true
#define READS true
#else
#define WRITES (me >= COMPACTORS && me < COMPACTORS + WRITERS)
#define COMPACTS (me < COMPACTORS)
#define READS (me >= COMPACTORS + WRITERS)
#endif
/* Of a file, and without TRACE always. */
#define SHOWS_FILE(kind, me, x) (SHOWS(kind, me) && IF_TRACE(nextFile == x))
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
#define releaseOld 23           /* SealedLog.compact: the old file's lock, for as long as it copies */
#define releaseNew 24           /* StoreLock.deinit, of the new file */
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
#define flushOldName 41         /* SealedLog.flushName, before a compaction */
#define unlockReplaced 42       /* SealedLog.confirm: isCurrent */
#define flushNameToRead 43
#define unlockRead 44
#define unlockFailed 45
#define leave 46                /* nothing is written */

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

#ifdef TRACE
bit isFollowed[POSITIONS];      /* whether a position has one behind it in its file */
#define FOLLOWED(p) isFollowed[p] = 1
/* A step of its own, for what the trace shows. */
#define THEN(me, step, shows) THEN_ALWAYS(me, step, shows); TAKE
#define THEN_ALWAYS(me, step, shows) GO(me, step) } :: atomic { at[me] == step && (shows) -> skip
#else
#define FOLLOWED(p) skip
#define THEN(me, step, shows) skip
#define THEN_ALWAYS(me, step, shows) skip
#endif
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
  headOf(x); i = positions; positions++; number[i] = number[h] + 1; isRecord[i] = record_; isNotice[i] = notice; before[i] = before[h] | BIT(i); FOLLOWED(h)
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

#ifdef TRACE
/* A name that is known to be flushed may be flushed again. */
#define FLUSH_NAME(me) if :: SHOWS(FLUSH_FOLDER, me) && nextA == 1 -> flushFolder(); pathRecord = file[me]; TAKE :: pathRecord == file[me] -> skip fi
#define A_FOLDER_FAILS SHOWS(FLUSH_FOLDER, me) && nextA == 0
#define FAILED_NAME(me) TAKE; GO(me, unlockFailed)
#define RENAMED(x) skip
#define OUTCOME(me, x) outcome[me] = x
#define HOLDS(me) (exclusive[path] == me + 1)
#define IS_HEAD(p, x) (p == (records[x] == 0 -> header[x] : record[x * MOST + records[x] - 1]))
#define RELEASE_AT_ONCE(me) skip
#define IN_TRACE(x, y) x
byte outcome[PROCESSES];        /* of the operation: how it has to end */
#define isUnknown 1
#define isFailed 2
#else
#define FLUSH_NAME(me) flushNameOf(file[me])
#define A_FOLDER_FAILS folderFails < FOLDER_FAILS -> folderFails++
#define FAILED_NAME(me) reset(me)
#define RENAMED(x) renamed[renames] = x; renames++
#define OUTCOME(me, x) skip
#define RELEASE_AT_ONCE(me) exclusive[old[me]] = 0; at[me] = copyTail
#define IN_TRACE(x, y) y
#endif
#ifdef PLANT_NO_PATH_CHECK
#define JUDGE(me) skip
#else
#define JUDGE(me) judge(me)
#endif
#ifdef TRACE
#undef JUDGE
#define JUDGE(me) skip
#endif

proctype Process(byte me) {
  do
  /* ----- SealedLog.lockForWriting with makeReady, the first steps of each writer and compactor */
  :: atomic { at[me] == idle && WRITES && positions < POSITIONS -> GO(me, openToWrite) }
#ifndef TRACE
  :: atomic { at[me] == idle && COMPACTS && files < FILES && positions + 2 <= POSITIONS -> isOpen[me] = 0; GO(me, openToWrite) }
#endif
  :: atomic { at[me] == openToWrite && SHOWS(LOCK_EXCLUSIVE, me) -> memo[me] = seen;
       if :: !isOpen[me] || IS_TRACE -> file[me] = IN_TRACE(nextFile, path); isOpen[me] = 1 :: else fi; GO(me, lockForWriting) }
  :: atomic { at[me] == lockForWriting && FREE(file[me]) && SHOWS_FILE(LOCK_EXCLUSIVE, me, file[me]) -> TAKE; exclusive[file[me]] = me + 1; GO(me, makeReady) }
  :: atomic { at[me] == makeReady && !IS_CURRENT(me) && SHOWS_FILE(UNLOCK, me, file[me]) -> TAKE;
       exclusive[file[me]] = 0; memo[me] = seen; file[me] = path; GO(me, lockForWriting);
#ifdef TRACE
       at[me] = idle
#endif
       }
  :: atomic { at[me] == makeReady && IS_CURRENT(me) -> flushed[file[me]] = records[file[me]]; memo[me] = seen; JUDGE(me);
       if :: WRITES -> GO(me, AFTER_READY) :: COMPACTS -> GO(me, flushOldName) fi; tidy() }

  /* ----- a write. What is remembered counts after a power loss: the file has to be there then. */
  :: atomic { at[me] == flushName && (pathRecord == file[me] || SHOWS(FLUSH_FOLDER, me)) ->
       if
       :: records[file[me]] == MOST || positions == POSITIONS -> reset(me)
       :: else ->
#ifndef PLANT_NAME_UNFLUSHED
          FLUSH_NAME(me);
#endif
#ifdef PLANT_MEMBERS_FIRST
          GO(me, append)
#else
          GO(me, AFTER_NAME)
#endif
       fi }
#ifdef MEMBERS
  :: atomic { at[me] == compareMembers -> memoMembers[me] = landmarks; compare(me); GO(me, rememberMembers) }
#ifdef PLANT_MEMBERS_FIRST
  :: atomic { at[me] == rememberMembers -> rememberList(me); GO(me, flushName) }
#else
  :: atomic { at[me] == rememberMembers -> rememberList(me); GO(me, append) }
#endif
#endif
  :: atomic { at[me] == append && SHOWS_FILE(WRITE, me, file[me]) -> TAKE;
       if :: positions == POSITIONS -> reset(me) :: else -> appendTo(file[me], 1, 0); current[me] = i; tidy(); GO(me, flushRecord) fi }
  :: atomic { at[me] == flushRecord && SHOWS_FILE(FLUSH, me, file[me]) -> TAKE; flushed[file[me]] = records[file[me]]; GO(me, rememberRecord) }
  :: atomic { at[me] == rememberRecord && SHOWS(SEEN, me) && IF_TRACE(nextA == current[me]) -> TAKE; remember(current[me]); GO(me, acknowledge) }
  :: atomic { at[me] == acknowledge && SHOWS_FILE(UNLOCK, me, file[me]) -> TAKE;
       acknowledged = acknowledged | BIT(current[me]); exclusive[file[me]] = 0; GO(me, idle); current[me] = 0; memo[me] = 0; memoMembers[me] = 0;
       if :: reset(me) :: skip fi }     /* a command ends, a program goes on */

  /* ----- a compaction. The notice will count as seen: its file has to be the one that is found after a power loss. */
  :: atomic { at[me] == flushOldName && (pathRecord == file[me] || SHOWS(FLUSH_FOLDER, me)) -> old[me] = file[me];
#ifndef PLANT_BEGUN_UNFLUSHED
       FLUSH_NAME(me);
#endif
       GO(me, makeReplacement) }
  /* one that a killed process has left is removed; one that is being written is locked */
  :: atomic { at[me] == makeReplacement && SHOWS(CREATE, me) ->
       if
       :: files == FILES || (unpublished != NONE && exclusive[unpublished] != 0) -> reset(me)         /* busy */
       :: else -> TAKE;
          new[me] = files; files++; unpublished = new[me]; header[new[me]] = NONE; exclusive[new[me]] = me + 1;
#ifdef MEMBERS
          if :: isMemberChange[me] = 1 :: skip fi;
#endif
          tail[me] = records[file[me]]; GO(me, releaseOld); RELEASE_AT_ONCE(me)
       fi }
#ifdef TRACE
  :: atomic { at[me] == releaseOld && SHOWS_FILE(UNLOCK, me, old[me]) -> TAKE; exclusive[old[me]] = 0; GO(me, copyTail) }
#endif
  :: atomic { at[me] == copyTail && SHOWS_FILE(LOCK_EXCLUSIVE, me, old[me]) -> tail[me] = records[old[me]]; GO(me, lockForNotice) }
  :: atomic { at[me] == lockForNotice && FREE(file[me]) && SHOWS_FILE(LOCK_EXCLUSIVE, me, old[me]) -> TAKE; exclusive[file[me]] = me + 1; GO(me, readLastRecords) }
  :: atomic { at[me] == readLastRecords && (IS_CURRENT(me) || !IS_TRACE) ->
       if
       :: !IS_CURRENT(me) || positions == POSITIONS || records[file[me]] == MOST -> discard(me)       /* conflict */
       :: else ->
          flushed[file[me]] = records[file[me]]; memo[me] = seen;
#ifndef PLANT_TAIL_LEFT
          tail[me] = records[file[me]];
#endif
          JUDGE(me); GO(me, appendNotice)
       fi; tidy() }
  :: atomic { at[me] == appendNotice && SHOWS_FILE(WRITE, me, file[me]) -> TAKE; appendTo(file[me], 0, 1); current[me] = i; tidy(); GO(me, flushNotice) }
  :: atomic { at[me] == flushNotice && SHOWS_FILE(FLUSH, me, file[me]) -> TAKE; flushed[file[me]] = records[file[me]]; GO(me, rememberNotice) }
  :: atomic { at[me] == rememberNotice && SHOWS(SEEN, me) && IF_TRACE(nextA == current[me]) -> TAKE; remember(current[me]); GO(me, finish) }
  /* The header's history is that of the notice; what was not copied is missing. */
  :: atomic { at[me] == finish && SHOWS_FILE(FLUSH, me, new[me]) -> TAKE;
       if
       :: positions == POSITIONS -> discard(me)
       :: else -> isWhole[new[me]] = 1; members[new[me]] = members[file[me]] + isMemberChange[me];
#ifndef PLANT_CONTENT_UNFLUSHED
          isWholeDisk[new[me]] = 1;
#endif
          GO(me, publish)
       fi }
  :: atomic { at[me] == publish && SHOWS_FILE(RENAME, me, new[me]) ->
       if
       :: !IS_CURRENT(me) || unpublished != new[me] || positions == POSITIONS -> discard(me)
       :: else -> TAKE;
          newPosition(file[me], 0, 0); header[new[me]] = i;
          h = tail[me];
          do
          :: h < records[file[me]] -> if :: isRecord[record[file[me] * MOST + h]] -> before[i] = before[i] & ~BIT(record[file[me] * MOST + h]) :: else fi; h++
          :: else -> break
          od;
          tidy();
          path = new[me]; unpublished = NONE; RENAMED(new[me]);
#ifdef PLANT_REMEMBER_FIRST
          remember(header[new[me]]);
#endif
          GO(me, flushNewName)
       fi }
  /* If this fails, the outcome is unknown: until the name is flushed, a power loss may bring the old file back. */
  :: atomic { at[me] == flushNewName && SHOWS(FLUSH_FOLDER, me) ->
       if
#ifdef PLANT_NAME_UNFLUSHED
       :: isNameFlushed[me] = 1
#else
       :: SHOWS(FLUSH_FOLDER, me) && IF_TRACE(nextA == 1) -> flushFolder(); pathRecord = new[me]; isNameFlushed[me] = 1
       :: A_FOLDER_FAILS
#endif
       fi; TAKE; GO(me, rememberHeader) }
  :: atomic { at[me] == rememberHeader && (!isNameFlushed[me] || (SHOWS(SEEN, me) && IF_TRACE(nextA == header[new[me]]))) ->
       if :: isNameFlushed[me] -> TAKE; remember(header[new[me]]) :: else fi; GO(me, finishCompaction) }
  :: atomic { at[me] == finishCompaction && SHOWS_FILE(UNLOCK, me, old[me]) -> TAKE; exclusive[old[me]] = 0; THEN(me, releaseNew, SHOWS_FILE(UNLOCK, me, new[me]));
#ifndef FORMER_V4
       if :: isNameFlushed[me] -> isReported[new[me]] = 1 :: else -> OUTCOME(me, isUnknown) fi;
#else
       isReported[new[me]] = 1;
#endif
       GO(me, idle); reset(me) }

  /* ----- a reading */
#ifndef TRACE
  :: atomic { at[me] == idle && READS -> asked[me] = acknowledged; memo[me] = seen; memoMembers[me] = landmarks;
       if
       :: !isOpen[me] -> file[me] = path; isOpen[me] = 1; headOf(path); isAlarm = (before[h] & BIT(memo[me])) == 0;
          shown[me] = records[path]; if :: isAlarm -> GO(me, reopen) :: else -> GO(me, lookAtPath) fi
       :: else -> shown[me] = records[file[me]]; GO(me, lookAtPath)
       fi; tidy() }
  :: atomic { at[me] == lookAtPath ->
       if
#ifndef PLANT_NO_LOOK
       :: shown[me] > 0 && isNotice[record[file[me] * MOST + shown[me] - 1]] && file[me] != path -> GO(me, reopen)
#endif
       :: else -> GO(me, readResult)
       fi }
  :: atomic { at[me] == reopen -> memo[me] = seen; memoMembers[me] = landmarks; file[me] = path; GO(me, lockToRead) }
  :: atomic { at[me] == lockToRead && exclusive[file[me]] == 0 ->
       if :: file[me] != path -> GO(me, reopen) :: else -> judge(me); shown[me] = records[file[me]]; GO(me, readResult) fi; tidy() }
  :: atomic { at[me] == readResult ->
       h = header[file[me]]; if :: shown[me] > 0 -> h = record[file[me] * MOST + shown[me] - 1] :: else fi; current[me] = h;
       assert((asked[me] & ~before[h]) == 0);                   /* a read shows what was acknowledged before it began */
       if :: seen == h -> GO(me, AFTER_CONFIRMED) :: else -> GO(me, reopenToConfirm) fi; tidy() }
  :: atomic { at[me] == reopenToConfirm -> if :: path != file[me] -> GO(me, reopen) :: else -> GO(me, lockToConfirm) fi }
#else
  /* Each shared lock is one to confirm. What is remembered without it has a record behind it, or is a header. */
  :: atomic { at[me] == idle && SHOWS(LOCK_SHARED, me) -> file[me] = nextFile; GO(me, lockToConfirm) }
  :: atomic { at[me] == idle && SHOWS(SEEN, me) && nextA < positions && (isFollowed[nextA] || (nextA == header[path] && pathRecord == path)) -> TAKE }
#endif
  :: atomic { at[me] == lockToConfirm && exclusive[file[me]] == 0 && SHOWS_FILE(LOCK_SHARED, me, file[me]) -> TAKE; sharers[file[me]]++; isShared[me] = file[me] + 1;
       if :: path != file[me] && !IS_TRACE -> unlockAll(me); GO(me, reopen) :: path != file[me] && IS_TRACE -> GO(me, unlockReplaced) :: else -> GO(me, flushToRead) fi }
#ifndef TRACE
  :: atomic { at[me] == lockToConfirm && exclusive[file[me]] != 0 ->
       if
       :: seen == current[me] -> GO(me, AFTER_CONFIRMED)
       :: seen != current[me] && records[file[me]] > shown[me] -> remember(current[me]); GO(me, AFTER_CONFIRMED)     /* another record follows */
       :: else -> reset(me)                                     /* busy: the lock timeout is over */
       fi }
#endif
  :: atomic { at[me] == flushToRead && SHOWS_FILE(FLUSH, me, file[me]) -> TAKE; THEN_ALWAYS(me, flushNameToRead, pathRecord == file[me] || SHOWS(FLUSH_FOLDER, me));
       if
       :: pathRecord == file[me] || (SHOWS(FLUSH_FOLDER, me) && IF_TRACE(nextA == 1)) -> flushed[file[me]] = records[file[me]]; FLUSH_NAME(me); GO(me, rememberRead)
       :: (IS_TRACE || pathRecord != file[me]) && A_FOLDER_FAILS -> FAILED_NAME(me)                   /* the read fails */
       fi }
  :: atomic { at[me] == rememberRead && SHOWS(SEEN, me) && IF_TRACE(IS_HEAD(nextA, file[me])) -> remember(IN_TRACE(nextA, current[me])); TAKE; THEN(me, unlockRead, SHOWS_FILE(UNLOCK, me, file[me])); unlockAll(me); GO(me, AFTER_CONFIRMED);
#ifdef TRACE
       at[me] = idle
#endif
       }
#ifdef MEMBERS
  :: atomic { at[me] == compareRead ->
#ifdef FORMER_V8
       memoMembers[me] = landmarks;
#endif
       compare(me); GO(me, rememberReadMembers) }
  :: atomic { at[me] == rememberReadMembers -> rememberList(me); GO(me, giveOut) }
#endif
#ifndef TRACE
  :: atomic { at[me] == giveOut -> givenOut = givenOut | before[current[me]]; asked[me] = 0; current[me] = 0; memo[me] = 0; memoMembers[me] = 0; GO(me, idle); if :: reset(me) :: skip fi }
  :: atomic { at[me] == idle && WRITES && positions == POSITIONS -> break }
  :: atomic { at[me] == idle && COMPACTS && (files == FILES || positions + 2 > POSITIONS) -> break }
  :: atomic { at[me] == idle && READS && positions + 1 >= POSITIONS -> break }
#else

  /* ----- what only a trace shows */
  :: atomic { at[me] == makeReady && SHOWS_FILE(FLUSH, me, file[me]) -> TAKE }                       /* FileRecordStore.prepareAppend */
  :: atomic { (at[me] == readLastRecords || at[me] == append || at[me] == appendNotice) && SHOWS_FILE(FLUSH, me, file[me]) -> TAKE }      /* ..., clearRemains */
  :: atomic { HOLDS(me) && SHOWS(REMOVE, me) && nextFile == unpublished && exclusive[unpublished] == 0 -> unpublished = NONE; TAKE }      /* removeLeftReplacement */
  :: atomic { (at[me] == makeReady || at[me] == flushName || at[me] == flushOldName || at[me] == makeReplacement) && SHOWS(FLUSH_FOLDER, me) && nextA == 0 -> TAKE; GO(me, leave) }
  :: atomic { (at[me] == append || at[me] == makeReplacement || at[me] == readLastRecords) && SHOWS(FLUSH_FOLDER, me) && nextA == 1 -> flushFolder(); pathRecord = path; TAKE }
  :: atomic { HOLDS(me) && (at[me] == makeReady || at[me] == flushName || at[me] == append || at[me] == flushOldName || at[me] == makeReplacement || at[me] == readLastRecords || at[me] == appendNotice || at[me] == leave) && SHOWS_FILE(UNLOCK, me, file[me]) -> TAKE;
       exclusive[file[me]] = 0; GO(me, idle) }          /* there is nothing to write, or it is refused */
  :: atomic { (at[me] == copyTail || at[me] == finish || at[me] == publish) && SHOWS_FILE(WRITE_NEW, me, new[me]) -> isWhole[new[me]] = 0; isWholeDisk[new[me]] = 0; TAKE; if :: at[me] == publish -> GO(me, finish) :: else fi }
  :: atomic { (at[me] == copyTail || at[me] == publish) && SHOWS_FILE(FLUSH, me, new[me]) -> TAKE }
  :: atomic { SHOWS_FILE(REMOVE, me, new[me]) && new[me] != 0 && path != new[me] ->                  /* a compaction is given up */
       if :: unpublished == new[me] -> unpublished = NONE :: else fi; exclusive[new[me]] = 0; new[me] = 0; TAKE;
       if :: exclusive[file[me]] == me + 1 -> GO(me, leave) :: else -> GO(me, idle) fi }
  :: atomic { (at[me] == unlockReplaced || at[me] == flushToRead || at[me] == flushNameToRead || at[me] == rememberRead) && SHOWS_FILE(UNLOCK, me, file[me]) -> TAKE; unlockAll(me); GO(me, idle) }         /* replaced, or remembered meanwhile, or read under the lock */
  :: atomic { at[me] == unlockFailed && SHOWS_FILE(UNLOCK, me, file[me]) -> TAKE; unlockAll(me); GO(me, idle); OUTCOME(me, isFailed) }
  :: atomic { at[me] == idle && SHOWS(FLUSH, me) -> TAKE }                                           /* SealedLog.flush at the first opening, makeDurable */
  :: atomic { at[me] == idle && SHOWS(FLUSH_FOLDER, me) -> if :: nextA == 1 -> flushFolder(); pathRecord = path :: else fi; TAKE }
  :: atomic { at[me] == idle && SHOWS(DONE, me) && outcome[me] != isUnknown -> OUTCOME(me, 0); TAKE }
  :: atomic { at[me] == idle && SHOWS(REFUSED, me) && outcome[me] != isUnknown -> OUTCOME(me, 0); TAKE }
  :: atomic { at[me] == idle && SHOWS(UNKNOWN, me) && outcome[me] == isUnknown -> OUTCOME(me, 0); TAKE }
  :: atomic { at[me] == idle && SHOWS(GIVEN, me) && outcome[me] != isFailed -> OUTCOME(me, 0); TAKE }
  :: atomic { at[me] == idle && SHOWS(FAILED, me) -> OUTCOME(me, 0); TAKE }
  :: atomic { SHOWS(KILLED, me) || SHOWS(START, me) -> reset(me); OUTCOME(me, 0); TAKE }
  :: atomic { ACCEPTED }
#endif
  od
}

#ifndef TRACE
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
#endif

init { atomic { byte n = 0; before[0] = 1; isWhole[0] = 1; isWholeDisk[0] = 1;
#ifdef TRACE
  LOAD;
  if :: pathRecord = 0 :: skip fi;
  if :: nextKind == CREATE && nextFile == 0 -> exclusive[0] = nextProcess + 1; file[nextProcess] = 0; at[nextProcess] = leave; TAKE :: else fi;      /* who has created it holds its lock */
#endif
  do :: n < PROCESSES -> run Process(n); n++ :: else -> break od;
#ifndef TRACE
  run Accidents()
#endif
  } }
