/* Rotations of the data key, and what two machines remember under which key; Format.md, "The rollback memory", "Rotation".

   File n is sealed under key n. Log positions are numbered as they come; without an attack, each file's history has all
   that came before it was published. Machine 0 has the vault's disk. Machine 1 sees the same path, and loses no power.

   Processes: 0 rotates; 1 opens the vault again and again; 2 stays open, and writes (OPEN); 3 opens it on machine 1 (OTHER)
   Sizes:     ROTATIONS POSITIONS LIMIT (former memory keys in a manifest; a rotation beyond is refused) NO_FRESH
   Accidents: KILLS POWER (losses) ATTACK (an older file put in location)
   Former behaviour, in which violations are found: FORMER_V5 FORMER_V6
   Planted bugs: PLANT_... below; the counterparts are in checks.txt */
#ifndef ROTATIONS
#define ROTATIONS 2
#endif
#ifndef LIMIT
#define LIMIT 8
#endif
#ifndef KILLS
#define KILLS 1
#endif
#ifndef POWER
#define POWER 1
#endif
#ifndef ATTACK
#define ATTACK 0
#endif
#ifndef POSITIONS
#define POSITIONS (2 * ROTATIONS + 2)
#endif
#define FILES (ROTATIONS + 1)
#define MACHINE(me) ((me) == 3)

/* steps of a process, by the Swift function that each stands for */
#define idle 0
#define appendNotice 1          /* SealedLog.announce, flushed */
#define rememberNotice 2        /* SealedLog.append: memory.remember */
#define publish 3               /* FileRecordStore.publish: the rename */
#define flushNewName 4          /* SealedLog.publish: flushName */
#define rememberHeader 5        /* SealedLog.publish: memory.remember */
#define finishRotation 6        /* SealedLog.changeKeys returns */
#define openFreely 10           /* Opening.opened without a lock */
#define readMemory 11           /* Opening.opened: Remembered.init, before the log */
#define openLocked 12          /* Opening.opened under the lock; LogView.reopened */
#define learnKeys 13            /* RollbackMemory.add(formerKeys:), adopt */
#define confirm 14              /* SealedLog.confirmNewestRecord */
#define flushToRead 15          /* SealedLog.flush */
#define rememberRead 16         /* SealedLog.confirm: memory.remember */
#define finishRead 17           /* SealedLog.read returns, or there is an alarm */
#define readAgain 18            /* SealedLog.read of an open vault */
#define lockForWriting 19       /* SealedLog.lockForWriting */
#define append 20               /* SealedLog.append */

byte path, pathDisk; bit isNameUnflushed;       /* one rename is not flushed at most: the rotation flushes it, or the next writer */
byte newest[FILES], positions = 1, rotations;   /* the newest position of each file */
byte seen[2], seenKey[2], seenDisk, seenKeyDisk;        /* .seen of both machines: position, and the key that authenticates it */
bit isLocked;                   /* the file at the path; a rotation holds the lock from the notice to the end */
byte givenOut[2];               /* the newest position that was given out on a machine */
byte at[4], file[4], memo[4], memoKey[4], oldestKey[4], head[4]; bit isOpen[4];
byte kills, powers, attacks; bit isAttacked, isMemoryLost;

inline flushFolder() { isNameUnflushed = 0; pathDisk = path }
inline reset(me) { if :: (me == 0 || at[me] == append) && isLocked -> isLocked = 0 :: else fi; at[me] = idle; file[me] = 0; memo[me] = 0; memoKey[me] = 0; oldestKey[me] = 0; head[me] = 0; isOpen[me] = 0 }
/* RollbackMemory.write: what no known key authenticates is of a later data key, and stays */
inline remember(m, p, key, oldest) {
  if
  :: seenKey[m] > key || seenKey[m] < oldest ->
#ifdef PLANT_OVERWRITE
     seen[m] = p; seenKey[m] = key
#else
     skip
#endif
  :: else -> if :: seen[m] < p -> seen[m] = p; seenKey[m] = key :: else fi
  fi
}
#ifdef FORMER_V6                /* the manifest drops the oldest memory keys */
#define OLDEST(f) ((f > LIMIT) * (f - LIMIT))
#define MAY_ROTATE true
#else
#define OLDEST(f) 0
#define MAY_ROTATE (rotations < LIMIT)
#endif
#ifdef PLANT_NO_FORMER_KEYS
#define KNOWS(me) (memoKey[me] == file[me])
#else
#define KNOWS(me) (memoKey[me] <= file[me] && memoKey[me] >= OLDEST(file[me]))
#endif
inline give(me, p) { givenOut[MACHINE(me)] = (givenOut[MACHINE(me)] > p -> givenOut[MACHINE(me)] : p) }
#define NO_FALSE_ALARM(me) assert(isAttacked || givenOut[MACHINE(me)] > newest[file[me]])
#define NONE_MISSED(me) assert(givenOut[MACHINE(me)] <= newest[file[me]] || isMemoryLost || memo[me] != seen[MACHINE(me)])
/* RollbackMemory.seen(in:under:_:), LogView.alarm */
inline compare(me, next, alarmed) {
  if
#ifdef PLANT_NO_CHECK
  :: !KNOWS(me) -> NONE_MISSED(me); at[me] = next
#else
  :: !KNOWS(me) -> NO_FALSE_ALARM(me); at[me] = alarmed                 /* rolled back to before a rotation */
#endif
  :: KNOWS(me) && memo[me] > newest[file[me]] -> NO_FALSE_ALARM(me); at[me] = alarmed
  :: else -> NONE_MISSED(me); at[me] = next
  fi
}

active proctype Rotating() {
  do
  :: atomic { at[0] == idle && rotations < ROTATIONS && MAY_ROTATE && !isLocked && positions + 2 < POSITIONS && !isAttacked && path == rotations ->
       isLocked = 1; file[0] = path; flushFolder(); at[0] = appendNotice }
  :: atomic { at[0] == appendNotice -> positions++; newest[file[0]] = positions - 1; at[0] = rememberNotice }
  :: atomic { at[0] == rememberNotice -> remember(0, newest[file[0]], file[0], 0); at[0] = publish }
  :: atomic { at[0] == publish && path == file[0] -> rotations++; path = rotations; newest[path] = positions; positions++; isNameUnflushed = 1; at[0] = flushNewName }
  :: atomic { at[0] == publish && path != file[0] -> reset(0) }
  :: atomic { at[0] == flushNewName -> if :: path == rotations -> flushFolder() :: else fi; at[0] = rememberHeader }
  :: atomic { at[0] == rememberHeader -> remember(0, newest[rotations], rotations, 0); at[0] = finishRotation }
  :: atomic { at[0] == finishRotation -> reset(0) }
  od
}
/* The former code authenticated .seen anew at opening, before any flush. */
#ifdef FORMER_V5
#define RENEW(me) if :: memoKey[me] < file[me] && seenKey[MACHINE(me)] < file[me] && seenKey[MACHINE(me)] >= OLDEST(file[me]) -> seenKey[MACHINE(me)] = file[me] :: else fi
#else
#define RENEW(me) skip
#endif
#define READ_MEMORY(me) memo[me] = seen[MACHINE(me)]; memoKey[me] = seenKey[MACHINE(me)]
#define OPENING(me) \
  do \
  :: atomic { at[me] == idle -> READ_MEMORY(me); at[me] = openFreely } \
  :: atomic { at[me] == openFreely -> file[me] = path; head[me] = newest[path]; \
       if :: memoKey[me] > file[me] || memo[me] > newest[file[me]] -> at[me] = readMemory :: else -> compare(me, learnKeys, idle) fi } \
  :: atomic { at[me] == readMemory -> READ_MEMORY(me); at[me] = openLocked } \
  :: atomic { at[me] == openLocked && !isLocked -> file[me] = path; head[me] = newest[path]; compare(me, learnKeys, finishRead) } \
  :: atomic { at[me] == learnKeys -> RENEW(me); at[me] = confirm } \
  :: atomic { at[me] == confirm -> \
       if \
       :: seen[MACHINE(me)] == head[me] && seenKey[MACHINE(me)] <= file[me] -> give(me, head[me]); at[me] = finishRead \
       :: path != file[me] -> at[me] = readMemory \
       :: else -> at[me] = flushToRead \
       fi } \
  :: atomic { at[me] == flushToRead -> if :: path != file[me] -> at[me] = readMemory :: else -> flushFolder(); at[me] = rememberRead fi } \
  :: atomic { at[me] == rememberRead -> remember(MACHINE(me), head[me], file[me], OLDEST(file[me])); give(me, head[me]); at[me] = finishRead } \
  :: atomic { at[me] == finishRead -> reset(me) } \
  od
#ifndef NO_FRESH
active proctype Fresh() { OPENING(1) }
#endif
#ifdef OTHER
active proctype Other() { OPENING(3) }
#endif
/* A process that stays open adopts each new key; it writes records, too. */
#ifdef OPEN
active proctype Open() {
  do
  :: atomic { at[2] == idle -> if :: !isOpen[2] -> READ_MEMORY(2); at[2] = openLocked :: else -> head[2] = newest[file[2]]; at[2] = readAgain fi }
  :: atomic { at[2] == openLocked && !isLocked -> file[2] = path; compare(2, learnKeys, finishRead) }
  :: atomic { at[2] == learnKeys -> if :: !isOpen[2] -> oldestKey[2] = OLDEST(file[2]); isOpen[2] = 1 :: else fi; head[2] = newest[file[2]]; at[2] = readAgain }
  :: atomic { at[2] == readAgain -> if :: path != file[2] -> READ_MEMORY(2); at[2] = openLocked :: else -> at[2] = flushToRead fi }
  :: atomic { at[2] == flushToRead -> if :: path == file[2] -> flushFolder(); at[2] = rememberRead :: else -> READ_MEMORY(2); at[2] = openLocked fi }
  :: atomic { at[2] == rememberRead -> remember(0, head[2], file[2], oldestKey[2]); give(2, head[2]); at[2] = lockForWriting }
  :: atomic { at[2] == lockForWriting -> at[2] = idle; memo[2] = 0; memoKey[2] = 0; head[2] = 0; if :: reset(2) :: skip fi }
  :: atomic { at[2] == lockForWriting && !isLocked && path == file[2] && positions + 3 < POSITIONS -> isLocked = 1; at[2] = append }
  :: atomic { at[2] == append -> flushFolder(); newest[file[2]] = positions; positions++; remember(0, newest[file[2]], file[2], oldestKey[2]); givenOut[0] = newest[file[2]]; isLocked = 0; at[2] = lockForWriting }
  :: atomic { at[2] == finishRead -> reset(2) }
  od
}
#endif
active proctype Accidents() {
  byte p;
  do
  :: atomic { kills < KILLS -> kills++; p = 0; do :: p < 3 -> p++ :: break od; if :: at[p] != idle -> reset(p) :: else -> kills-- fi; p = 0 }
  :: atomic { powers < POWER -> powers++; reset(0); reset(1); reset(2); reset(3); isLocked = 0;
       if :: isNameUnflushed && pathDisk != path -> if :: path = pathDisk :: pathDisk = path fi :: else fi; isNameUnflushed = 0; rotations = path;
       if :: seenDisk = seen[0]; seenKeyDisk = seenKey[0] :: seen[0] = seenDisk; seenKey[0] = seenKeyDisk; isMemoryLost = 1 fi }
  :: atomic { attacks < ATTACK && path > 0 && !isLocked && !isNameUnflushed -> attacks++; isAttacked = 1; path = path - 1; pathDisk = path }
  od
}
