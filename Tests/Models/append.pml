/* One file on one machine: processes append and read; Format.md, "Where the log ends", "Writing", "The rollback memory".

   Each atomic block is one system call, or what a process does between two of them. It names the Swift function.
   A file is a row of sectors of CELLS cells, so that records share sectors if there are two. The disk takes or loses a
   sector as a whole. A record has at least INDEX cells, which hold its frame (FRAME cells) and its sealed index; the
   cells behind them are its payload.

   Sizes:    WRITERS READERS BOTH (writers that read, too) RECORDS (attempts to append) SECTORS CELLS (1 or 2) LONGEST SHORTEST FRAME INDEX
   Accidents: KILLS POWER (losses) FAILS (failing flushes) SHORT (failing writes) BACKGROUND (a failing flush by the kernel)
   More:     PAYLOAD (payloads before their heads) HINT (openings begin at any minor checkpoint)
   Former behaviour, in which violations are found: FORMER_V1 FORMER_V2 FORMER_V3 FORMER_V7 FORMER_V13
   Planted bugs: PLANT_... below; the counterparts are in checks.txt */
#include "events.pml"
#ifndef WRITERS
#define WRITERS 2
#endif
#ifndef READERS
#define READERS 1
#endif
#ifndef RECORDS
#define RECORDS 2
#endif
#ifndef BOTH
#define BOTH 0
#endif
#ifndef SECTORS
#define SECTORS 4
#endif
#ifndef CELLS
#define CELLS 1
#endif
#ifndef LONGEST
#define LONGEST 2
#endif
#ifndef FRAME
#define FRAME 1
#endif
#ifndef INDEX
#define INDEX FRAME
#endif
#ifndef SHORTEST
#define SHORTEST INDEX
#endif
#ifndef KILLS
#define KILLS 0
#endif
#ifndef POWER
#define POWER 0
#endif
#ifndef FAILS
#define FAILS 0
#endif
#ifndef SHORT
#define SHORT 0
#endif
#if defined(FORMER_V1) || defined(FORMER_V2)
#define FORMER_READER           /* goes on without the lock after 200 ms, and looks at the record again */
#endif
#define COUNT (SECTORS * CELLS)
#define PROCESSES (WRITERS + READERS)
#define CELL(r, k) ((r) * LONGEST + (k) + 1)
#define RECORD(v) (((v) - 1) / LONGEST)
#define PART(v) (((v) - 1) % LONGEST)
#define BORDER(c) (((c) / CELLS + 1) * CELLS)     /* of the sector with a cell */
#define LEAST(x, y) ((x) < (y) -> (x) : (y))
/* the first cells of a record: LogFrame, RecordReader.record */
#define BEGINS(c, n) (cache[c] != 0 && PART(cache[c]) == 0 && (n == 1 || cache[(c) + 1] == cache[c] + 1))
#if CELLS == 1
#define DIFFERS(s) (cache[s] != disk[s])
#define KEEP(s) disk[s] = cache[s]
#define LOSE(s) cache[s] = disk[s]
#else
#define DIFFERS(s) (cache[2*(s)] != disk[2*(s)] || cache[2*(s)+1] != disk[2*(s)+1])
#define KEEP(s) disk[2*(s)] = cache[2*(s)]; disk[2*(s)+1] = cache[2*(s)+1]
#define LOSE(s) cache[2*(s)] = disk[2*(s)]; cache[2*(s)+1] = disk[2*(s)+1]
#endif

/* steps of a process, by the Swift function that each stands for */
#define idle 0
#define lockForWriting 1        /* SealedLog.lockForWriting */
#define makeReady 2             /* SealedLog.makeReady */
#define rewriteNewest 3         /* FileRecordStore.prepareAppend: rewrite */
#define flushNewest 4           /* FileRecordStore.prepareAppend: flush */
#define markClearing 5          /* FileRecordStore.clear: mark(isClearing: true) */
#define overwriteWithZeros 6    /* FileRecordStore.overwriteWithZeros: all but the first sector */
#define overwriteFirstSector 7  /* FileRecordStore.overwriteWithZeros: its last line */
#define flushZeros 8            /* FileRecordStore.clear: flush */
#define unmarkClearing 9        /* FileRecordStore.clear: mark(isClearing: false) */
#define planRecord 10           /* SealedLog.plan, treePlan; FileRecordStore.makeRoom */
#define writePayload 11         /* LogView.treePlan(into:): the payload before its head */
#define writeRecord 12          /* FileRecordStore.append: write */
#define flushRecord 13          /* FileRecordStore.append: synchronize */
#define rememberRecord 14       /* SealedLog.append: memory.remember */
#define acknowledge 15          /* SealedLog.commit returns */
#define takeBack 16             /* FileRecordStore.takeBack */
#define refuse 17               /* SealedLog.commit throws: nothing was changed */
#define leave 18                /* the lock is released: nothing is written */
#define poison 19               /* SealedLog.step: the outcome is unknown, and this handle writes nothing more */
#define readFreely 20           /* SealedLog.readFreely; Opening.opened without a lock */
#define lockToRead 21           /* StoreLock.toRead */
#define readLocked 22          /* SealedLog.replaceView: LogView.reopened */
#define releaseRead 23
#define confirm 24              /* SealedLog.confirmNewestRecord */
#define lockToConfirm 25        /* SealedLog.confirm: the lock, or what makes it unnecessary */
#define lookUnderLock 26        /* SealedLog.confirm: headIsThere */
#define flushToRead 27          /* SealedLog.flush: synchronize */
#define flushNameToRead 28      /* SealedLog.flush: flushName */
#define rememberRead 29         /* SealedLog.confirm: memory.remember */
#define unlockRead 30
#define giveOut 31              /* SealedLog.read returns */
#define failRead 32             /* SealedLog.read throws */
#define unlockAndRead 33        /* SealedLog.confirm returns false */
#define stuck 34                /* of a trace: what was written cannot be */
#define lookAgain 40            /* the former reader looks again after a flush without the lock */
#define writerLooks 41          /* the former takeBack: was it given out? */
#define writerLooksAgain 42
#define writeAgain 43

/* the file: what the page cache shows, what the disk has, and which sectors are to be written back */
num cache[COUNT + 2], disk[COUNT]; bit dirty[SECTORS];
bit mark;                       /* the clearing mark, in the header's page */
/* records by the order in which they were planned; 0: the header */
num length[RECORDS + 1], previous[RECORDS + 1], start[RECORDS + 1], number[RECORDS + 1];
bit big[RECORDS + 1], acknowledged[RECORDS + 1], givenOut[RECORDS + 1], refused[RECORDS + 1], excused[RECORDS + 1], unwritten[RECORDS + 1];
num count = 1;
num seen; bit seenFlushed; num seenDisk; bit seenFlushedDisk;   /* .seen: as the system shows it, and as the disk has it */
byte exclusive; bit shared[PROCESSES]; byte sharers;            /* flock of the file */
byte errors, toldErrors;        /* errseq_t of the inode: errors, and how many some descriptor was told of */
byte kills, powers, fails, shorts;

/* processes */
byte at[PROCESSES];
num head[PROCESSES], end[PROCESSES], confirmed[PROCESSES]; bit isOpen[PROCESSES], durable[PROCESSES], needsClearing[PROCESSES];
num current[PROCESSES];         /* the record that it writes */
num next[PROCESSES], clearFrom[PROCESSES], clearTo[PROCESSES]; byte after[PROCESSES];
byte sample[PROCESSES];         /* the errors that its descriptor was told of */
num memo[PROCESSES]; bit memoFlushed[PROCESSES], isLocked[PROCESSES];
/* what a step uses, 0 between steps */
num foundEnd, foundHead, i, v, r, c; byte finding; bit isDamage, isBroken, isZero, isIn, isAlarm, isWrong, isLost, isExcused, ok, torn;
/* the last write has the head and what shares a sector with it */
#define HEAD_END(x) BORDER(start[x] + INDEX - 1)
#ifdef PLANT_PAYLOAD_IN_HEAD_SECTOR
#define BIG_START(x) (start[x] + INDEX)
#else
#define BIG_START(x) HEAD_END(x)
#endif
#define NOTHING 0
#define FAILING 1
#define FOREIGN 2

inline tidy() {
  foundEnd = 0; foundHead = 0; i = 0; v = 0; r = 0; c = 0; finding = 0; isDamage = 0; isBroken = 0; isZero = 0; isIn = 0; isAlarm = 0;
  isWrong = 0; isLost = 0; isExcused = 0; ok = 0; torn = 0
}

/* pwrite within one sector, or what one call of a trace writes; x: the record, 0 for zeros */
inline store(x, from, to) {
#ifndef TRACE                   /* the kernel may have written the sector back as it was before */
  if :: dirty[(from) / CELLS] && DIFFERS((from) / CELLS) -> if :: KEEP((from) / CELLS) :: skip fi :: else fi;
#endif
  c = from;
  do
  :: c < (to) ->
     v = cache[c];
     cache[c] = ((x) == 0 -> 0 : CELL(x, c - start[x]));
     assert(v == 0 || v == cache[c] || !acknowledged[RECORD(v)]);
     c++
  :: else -> break
  od;
#ifndef TRACE
  dirty[(from) / CELLS] = DIFFERS((from) / CELLS);
#endif
  c = 0; v = 0
}
/* fdatasync. After a failure Linux regards the pages as clean, whatever has reached the disk. */
inline failing() {
  fails++; errors++; i = 0;
  do
  :: i < SECTORS ->
     if
     :: dirty[i] -> dirty[i] = 0;
        if
        :: KEEP(i)
        :: c = i * CELLS; do :: c < (i + 1) * CELLS -> if :: cache[c] != disk[c] && cache[c] != 0 -> unwritten[RECORD(cache[c])] = 1 :: else fi; c++ :: else -> break od; c = 0
        fi
     :: else
     fi; i++
  :: else -> break
  od; i = 0
}
inline synchronize(me) {
#ifdef TRACE
  ok = nextA; TAKE
#else
  if
  :: i = 0; do :: i < SECTORS -> if :: dirty[i] -> KEEP(i); dirty[i] = 0 :: else fi; i++ :: else -> break od; i = 0
  :: fails < FAILS -> failing()
  fi;
  ok = sample[me] == errors;    /* each descriptor is told of an error once */
  if :: !ok -> sample[me] = errors; toldErrors = errors :: else fi
#endif
}

/* LogView.catchUp: records that follow each other; only the last one's payload is checked */
inline follow(fromEnd, fromHead) {
  foundEnd = fromEnd; foundHead = fromHead; finding = NOTHING;
  do
  :: foundEnd >= COUNT -> break
  :: foundEnd < COUNT && cache[foundEnd] == 0 && (FRAME == 1 || cache[foundEnd + 1] == 0) -> break
  :: else ->
     if :: !BEGINS(foundEnd, INDEX) -> finding = FAILING; break :: else fi;
     r = RECORD(cache[foundEnd]);
     if :: previous[r] != foundHead || start[r] != foundEnd -> finding = FOREIGN; break :: else fi;
     ok = 1; c = 0; do :: c < length[r] -> if :: cache[foundEnd + c] != CELL(r, c) -> ok = 0 :: else fi; c++ :: else -> break od; c = 0;
     i = foundEnd + length[r];
     if
     :: !ok && !(i < COUNT && BEGINS(i, INDEX) && previous[RECORD(cache[i])] == r) -> finding = FAILING; break
     :: else -> isBroken = isBroken || !ok; foundHead = r; foundEnd = i
     fi
  od;
  ok = 0; r = 0; i = 0
}
/* LogView.headIsThere: of a taking back that was cut short, zeros may be left in the record behind its first sector */
inline headIsThere(me) {
  ok = 1; c = 0;
  do
  :: c < LONGEST && c < length[head[me]] -> if :: cache[start[head[me]] + c] != CELL(head[me], c) -> ok = 0 :: else fi; c++;
#ifdef FORMER_V7
     break
#endif
  :: else -> break
  od; c = 0
}
/* LogView.classifyTail, searchTail, isTorn */
inline classify() {
  isDamage = (finding == FOREIGN); isZero = 1; i = foundEnd;
  do
  :: i < COUNT ->
     if :: cache[i] != 0 -> isZero = 0; if :: i > foundEnd && BEGINS(i, FRAME) -> isDamage = 1 :: else fi :: else fi; i++
  :: else -> break
  od;
  if
  :: finding == FAILING ->
     i = foundEnd + (BEGINS(foundEnd, FRAME) -> length[RECORD(cache[foundEnd])] : FRAME);
     torn = 0; ok = 1; c = foundEnd;
     do
     :: c < i -> if :: cache[c] != 0 -> ok = 0 :: else fi; c++; if :: c % CELLS == 0 || c == i -> torn = torn || ok; ok = 1 :: else fi
     :: else -> break
     od;
     isDamage = isDamage || !torn
  :: else
  fi;
  i = 0; c = 0; ok = 0; torn = 0;
#ifdef TRACE
  isDamage = 0
#endif
}
/* LogView.includes */
inline include(x, h) { r = h; isIn = 0; do :: r == x -> isIn = 1; break :: r != x && r == 0 -> break :: r != x && r != 0 -> r = previous[r] od; r = 0 }
/* LogView.followToEnd: from the first record, or from a minor checkpoint that the hint names */
inline followToEnd() {
#ifdef HINT
  v = 0; do :: v + 1 < count -> v++ :: break od;
  i = v; v = 0;
  if
  :: i != 0 && length[i] != 0 && BEGINS(start[i], INDEX) && RECORD(cache[start[i]]) == i -> c = i; follow(start[c], previous[i]); c = 0;
     if :: foundHead == 0 || finding != NOTHING -> follow(0, 0) :: else fi
  :: else -> i = 0; follow(0, 0)
  fi
#else
  follow(0, 0)
#endif
}
/* LogView.alarm after a look while no process can write, and what must hold then */
inline judge(me) {
  include(memo[me], foundHead);
  isAlarm = number[memo[me]] > number[foundHead] || !isIn;
  i = 1;
  do
  :: i < count ->
     include(i, foundHead);
     if :: acknowledged[i] && !isIn -> isWrong = 1 :: else fi;
     if :: refused[i] && isIn -> isWrong = 1 :: else fi;
     if :: givenOut[i] && !isIn -> isLost = 1 :: else fi;
     if :: excused[i] && !isIn -> isExcused = 1 :: else fi;
     i++
  :: else -> break
  od;
#ifndef TRACE
  assert(!isBroken);                                    /* a record that others follow is whole */
  assert(!isDamage);                                    /* no accident looks like damage */
  assert(isDamage || !isWrong);                         /* what was acknowledged is there, what was refused is not */
  assert(isDamage || !isLost || isAlarm);               /* what was given out is there, or there is an alarm */
  assert(isDamage || !isAlarm || isLost || isExcused);  /* no false alarm */
#endif
  i = 0; isWrong = 0; isLost = 0; isExcused = 0; isIn = 0
}
inline unlock(me) { if :: exclusive == me + 1 -> exclusive = 0 :: else fi; if :: shared[me] -> shared[me] = 0; sharers-- :: else fi }
inline rest(me) { memo[me] = 0; memoFlushed[me] = 0; current[me] = 0; next[me] = 0; clearFrom[me] = 0; clearTo[me] = 0; after[me] = 0; isLocked[me] = 0; GO(me, idle) }
inline reset(me) { unlock(me); rest(me); isOpen[me] = 0; head[me] = 0; end[me] = 0; durable[me] = 0; needsClearing[me] = 0; confirmed[me] = 0; sample[me] = 0 }
/* FileRecordStore.clear of a range of cells behind the log's end; `then` is the step after it */
inline clear(me, from, to, then) { clearFrom[me] = from; clearTo[me] = to; after[me] = then; GO(me, markClearing) }
#define REMEMBERS(x, flushed) (number[seen] < number[x] || (seen == (x) && flushed && !seenFlushed))

#ifdef TRACE
byte outcome[PROCESSES];        /* the step that its last change or reading ended with */
#define SOON(kind) c_expr { soon[now.position][PProcess->me / THREADS] == kind }
#define WRITES SOON(LOCK_EXCLUSIVE)
#define READS (SOON(LOCK_SHARED) || SOON(GIVEN) || SOON(FAILED))
#define MORE true
#define A_WRITE_FAILS(kind) SHOWS(kind, me)
#define ENDS(me, step) outcome[me] = step
#define LOST(me) GO(me, poison)
#define SHOWS_SEEN(x, flushed) (!REMEMBERS(x, flushed) || SHOWS(SEEN, me) && nextA == (x) && nextB == flushed)
#define REMEMBER(x, flushed) if :: REMEMBERS(x, flushed) -> seen = x; seenFlushed = flushed; TAKE :: else fi
#define LEFT CELL(RECORDS, 1)   /* what a power loss may have left */
inline areZeros(from, to) { ok = 1; c = from; do :: c < to && c < COUNT -> if :: cache[c] != 0 -> ok = 0 :: else fi; c++ :: else -> break od; c = 0 }
#define SHOWS_RECORD(x, from) (SHOWS(WRITE, me) && nextC == (x) && nextA == (from))
#else
#define WRITES (me < WRITERS)
#define READS (me >= WRITERS - BOTH)
#define MORE (count <= RECORDS)
#define A_WRITE_FAILS(kind) (shorts < SHORT)
#define ENDS(me, step) skip
#define LOST(me) reset(me)
#define SHOWS_SEEN(x, flushed) true
#define REMEMBER(x, flushed) if :: REMEMBERS(x, flushed) -> seen = x; seenFlushed = flushed :: else fi
#define SHOWS_RECORD(x, from) true
#endif
#ifdef FORMER_V3
#define SHOWS_MARK(x) true
#define TAKE_MARK skip
#else
#define SHOWS_MARK(x) (SHOWS(MARK, me) && IF_TRACE(nextA == x))
#define TAKE_MARK TAKE
#endif

proctype Process(byte me) {
  do
  /* ----- a change. What is remembered is read before the log. */
  :: atomic { at[me] == idle && WRITES && MORE ->
       if :: !isOpen[me] -> sample[me] = toldErrors :: else fi;
       memo[me] = seen; memoFlushed[me] = seenFlushed; GO(me, lockForWriting) }
  :: atomic { at[me] == lockForWriting && exclusive == 0 && sharers == 0 && SHOWS(LOCK_EXCLUSIVE, me) ->
       TAKE; exclusive = me + 1; GO(me, makeReady) }
  :: atomic { at[me] == makeReady ->
       if :: isOpen[me] -> headIsThere(me) :: else fi;
       if
       :: ok -> ok = 0;
          follow(end[me], head[me]); include(memo[me], foundHead);
          if
          :: finding == NOTHING && isIn && number[memo[me]] <= number[foundHead] ->
             if :: foundHead != head[me] -> durable[me] = 0 :: else fi; head[me] = foundHead; end[me] = foundEnd
          :: else -> isOpen[me] = 0
          fi
       :: else -> isOpen[me] = 0
       fi;
       if
       :: isOpen[me] -> GO(me, rewriteNewest)
       :: else ->
          followToEnd(); classify(); judge(me);
          if
          :: isAlarm || isDamage -> reset(me)
          :: else ->
             isOpen[me] = 1; head[me] = foundHead; end[me] = foundEnd; needsClearing[me] = !isZero;
             durable[me] = foundHead == 0 || (memo[me] == foundHead && memoFlushed[me]); GO(me, rewriteNewest)
          fi
       fi;
#ifdef PLANT_NO_REWRITING
       durable[me] = 1;
#endif
       tidy() }
  /* Another process wrote the newest record, and may have died before its flush. */
  :: atomic { at[me] == rewriteNewest && (!durable[me] || IS_TRACE) && SHOWS_RECORD(head[me], start[head[me]]) ->
       TAKE;
#ifndef TRACE
       i = start[head[me]] / CELLS; do :: i * CELLS < end[me] -> dirty[i] = DIFFERS(i); i++ :: else -> break od; i = 0;
#endif
       if :: needsClearing[me] -> clear(me, end[me], COUNT, planRecord) :: else -> GO(me, flushNewest) fi }
  :: atomic { at[me] == rewriteNewest && durable[me] -> if :: needsClearing[me] -> clear(me, end[me], COUNT, planRecord) :: else -> GO(me, planRecord) fi }
  :: atomic { at[me] == flushNewest && SHOWS(FLUSH, me) ->
       synchronize(me); if :: ok -> durable[me] = 1; GO(me, planRecord) :: else -> LOST(me) fi; ok = 0 }

  /* ----- zeros over what is behind the end. The mark is in the page cache, as those zeros are that never reach the disk. */
  :: atomic { at[me] == markClearing && SHOWS_MARK(1) -> TAKE_MARK;
#ifndef FORMER_V3
       mark = 1;
#endif
       next[me] = BORDER(clearFrom[me]);
       GO(me, overwriteWithZeros) }
#ifdef TRACE
  :: atomic { at[me] == markClearing && SHOWS(MARK_FAILS, me) -> TAKE; if :: after[me] == refuse -> LOST(me) :: else -> GO(me, leave) fi }
  :: atomic { (at[me] == flushNewest || at[me] == planRecord) && SHOWS(MARK_FAILS, me) -> TAKE; GO(me, leave) }
  :: atomic { at[me] == overwriteWithZeros && SHOWS(ZEROS, me) && nextA >= clearFrom[me] -> store(0, nextA, nextB); TAKE }
  :: atomic { at[me] == overwriteWithZeros && SHOWS(FLUSH, me) -> areZeros(clearFrom[me], clearTo[me]); if :: ok -> GO(me, flushZeros) :: else -> GO(me, stuck) fi; ok = 0 }
#else
  :: atomic { at[me] == overwriteWithZeros ->
       if
       :: next[me] < clearTo[me] -> r = LEAST(BORDER(next[me]), clearTo[me]); store(0, next[me], r); next[me] = r; r = 0
       :: next[me] >= clearTo[me] -> next[me] = 0;
          if :: clearFrom[me] < clearTo[me] -> GO(me, overwriteFirstSector) :: else -> GO(me, flushZeros) fi
       fi }
  :: atomic { at[me] == overwriteFirstSector ->
       r = LEAST(BORDER(clearFrom[me]), clearTo[me]); store(0, clearFrom[me], r); r = 0; GO(me, flushZeros) }
#endif
  :: atomic { (at[me] == overwriteWithZeros || at[me] == overwriteFirstSector) && A_WRITE_FAILS(ZEROS_FAIL) ->
#ifndef TRACE
       shorts++;
#endif
       TAKE; if :: after[me] == refuse -> LOST(me) :: else -> GO(me, leave) fi }
  :: atomic { at[me] == flushZeros && SHOWS(FLUSH, me) ->
#ifdef PLANT_ZEROS_UNFLUSHED
       ok = 1;
#else
       synchronize(me);
#endif
       if :: ok -> GO(me, unmarkClearing) :: else -> LOST(me) fi; ok = 0 }
  :: atomic { at[me] == unmarkClearing && (SHOWS_MARK(0) || ONLY_SHOWS(MARK_FAILS, me)) ->
       if :: SHOWS_MARK(0) -> mark = 0 :: else fi; TAKE_MARK;      /* if it stays, the next writer clears once more */
       needsClearing[me] = 0; if :: current[me] == 0 -> durable[me] = 1 :: else fi; clearFrom[me] = 0; clearTo[me] = 0;
       GO(me, after[me]); after[me] = 0 }

  /* ----- the record */
#ifdef TRACE                    /* the trace says what is written; a clearing was decided on before: an opening without the lock may take a record that is being written for remains */
  :: atomic { at[me] == flushNewest && SHOWS_MARK(1) -> clear(me, end[me], COUNT, planRecord) }
  :: atomic { at[me] == planRecord && SHOWS_MARK(1) && current[me] == 0 -> clear(me, end[me], COUNT, planRecord) }
  :: atomic { at[me] == planRecord && SHOWS(ZEROS, me) -> areZeros(nextA, nextB); if :: ok -> TAKE :: else -> GO(me, stuck) fi; ok = 0 }       /* writeZerosAhead */
  :: atomic { at[me] == planRecord && (SHOWS(WRITE, me) || SHOWS(WRITE_FAILS, me) || SHOWS(PAYLOAD_BEFORE, me)) && nextC == count && (nextKind == PAYLOAD_BEFORE || nextA == end[me]) ->
       areZeros(end[me], end[me] + nextD); if :: !ok -> GO(me, stuck); goto next_step :: else fi; ok = 0;
       current[me] = nextC; count = nextC + 1; previous[nextC] = head[me]; start[nextC] = end[me]; number[nextC] = number[head[me]] + 1; length[nextC] = nextD;
       if :: nextKind == PAYLOAD_BEFORE -> big[nextC] = 1; GO(me, writePayload) :: else -> GO(me, writeRecord) fi;
next_step: ok = 0 }
  :: atomic { at[me] == writePayload && SHOWS(PAYLOAD_BEFORE, me) && nextC == current[me] -> store(current[me], nextA, nextB); TAKE }
  :: atomic { at[me] == writePayload && (SHOWS(WRITE, me) || SHOWS(WRITE_FAILS, me)) -> GO(me, writeRecord) }
  :: atomic { at[me] == writeRecord && SHOWS_RECORD(current[me], start[current[me]]) -> store(current[me], nextA, nextB); TAKE; GO(me, flushRecord) }
#else
  :: atomic { at[me] == planRecord ->
       if
       :: count > RECORDS || end[me] + SHORTEST > COUNT -> GO(me, leave)
       :: else ->
          r = count; count++; current[me] = r;
          length[r] = SHORTEST; do :: length[r] < LONGEST && end[me] + length[r] < COUNT -> length[r]++ :: break od;
          previous[r] = head[me]; start[r] = end[me]; number[r] = number[head[me]] + 1;
#ifdef PAYLOAD
          if :: start[r] + length[r] > HEAD_END(r) -> big[r] = 1 :: skip fi;
#endif
          /* room: zeros where the record will be, and the next one's head; before a payload, all of the rest */
          c = (big[r] -> COUNT : LEAST(COUNT, end[me] + length[r] + FRAME));
          i = end[me]; ok = !mark; do :: i < c -> if :: cache[i] != 0 -> ok = 0 :: else fi; i++ :: else -> break od;
#ifdef PLANT_ROOM_NOT_CLEARED
          ok = 1;
#endif
          c = 0; i = 0; next[me] = (big[r] -> BIG_START(r) : start[r]);
          if
          :: ok -> if :: big[r] -> GO(me, writePayload) :: else -> GO(me, writeRecord) fi
          :: else -> clear(me, end[me], COUNT, (big[r] -> writePayload : writeRecord))
          fi;
          ok = 0; r = 0
       fi }
  :: atomic { at[me] == writePayload ->
       if :: next[me] == 0 -> next[me] = BIG_START(current[me]) :: else fi;
       if
       :: next[me] < start[current[me]] + length[current[me]] ->
          r = LEAST(BORDER(next[me]), start[current[me]] + length[current[me]]); store(current[me], next[me], r); next[me] = r; r = 0
       :: else -> next[me] = 0; GO(me, writeRecord)
       fi }
  :: atomic { at[me] == writeRecord ->
       if :: next[me] == 0 -> next[me] = start[current[me]] :: else fi;
       r = start[current[me]] + (big[current[me]] -> HEAD_END(current[me]) - start[current[me]] : length[current[me]]);
       i = LEAST(BORDER(next[me]), r); store(current[me], next[me], i); next[me] = i;
       if :: i == r -> next[me] = 0;
#ifdef PLANT_EARLY_UNLOCK
          unlock(me);
#endif
#ifdef PLANT_REMEMBER_FIRST
          seen = current[me]; seenFlushed = 1;
#endif
          GO(me, flushRecord) :: else fi; i = 0; r = 0 }
#endif
  :: atomic { at[me] == writePayload && A_WRITE_FAILS(PAYLOAD_FAILS) ->      /* nothing was appended */
#ifndef TRACE
       shorts++;
#endif
       TAKE; GO(me, refuse) }
  :: atomic { at[me] == writeRecord && A_WRITE_FAILS(WRITE_FAILS) ->
#ifdef TRACE
       store(current[me], nextA, nextB);
#else
       shorts++;
#endif
       TAKE; GO(me, takeBack) }
  :: atomic { at[me] == flushRecord && SHOWS(FLUSH, me) ->
#ifdef PLANT_RECORD_UNFLUSHED
       ok = 1;
#else
       synchronize(me);
#endif
       if :: ok -> GO(me, rememberRecord) :: else -> GO(me, takeBack) fi; ok = 0 }
  :: atomic { at[me] == rememberRecord && SHOWS_SEEN(current[me], 1) -> REMEMBER(current[me], 1); GO(me, acknowledge) }
  :: atomic { at[me] == acknowledge && SHOWS(UNLOCK, me) -> TAKE;
       acknowledged[current[me]] = 1; head[me] = current[me]; end[me] = start[current[me]] + length[current[me]];
       durable[me] = 1; confirmed[me] = current[me]; ENDS(me, acknowledge); unlock(me); rest(me);
#ifndef TRACE
       if :: reset(me) :: skip fi       /* a command ends, a program goes on */
#endif
       }

  /* ----- taking back. No reader can have returned the record: it would have needed the lock. */
  :: atomic { at[me] == takeBack ->
#ifdef FORMER_READER
       if :: seen == current[me] -> GO(me, writerLooksAgain) :: else -> GO(me, writerLooks) fi }
  :: atomic { at[me] == writerLooks ->
#endif
       r = start[current[me]]; i = r + (big[current[me]] -> HEAD_END(current[me]) - r : length[current[me]]); v = r;
       do :: r < i -> if :: cache[r] != 0 -> v = r + 1 :: else fi; r++ :: else -> break od;      /* endOfData */
#ifdef FORMER_READER
       clear(me, start[current[me]], v, writerLooksAgain);
#else
       clear(me, start[current[me]], v, refuse);
#endif
       i = 0; r = 0; v = 0 }
#ifdef FORMER_READER
  :: atomic { at[me] == writerLooksAgain ->
       if :: seen == current[me] -> GO(me, writeAgain) :: else -> GO(me, refuse) fi }
  :: atomic { at[me] == writeAgain ->
       i = start[current[me]];
       do :: i < start[current[me]] + length[current[me]] -> r = LEAST(BORDER(i), start[current[me]] + length[current[me]]); store(current[me], i, r); i = r :: else -> break od;
       i = 0; r = 0; synchronize(me); ok = 0; reset(me) }
#endif
  :: atomic { at[me] == refuse && SHOWS(UNLOCK, me) -> TAKE;
       assert(!givenOut[current[me]]);                  /* what is refused was given out to no one */
       refused[current[me]] = 1;
#ifndef PLANT_PAYLOAD_FORGOTTEN
       if :: big[current[me]] -> needsClearing[me] = 1 :: else fi;
#endif
       ENDS(me, refuse); unlock(me); rest(me) }
  :: atomic { at[me] == leave && SHOWS(UNLOCK, me) -> TAKE; if :: current[me] != 0 -> refused[current[me]] = 1 :: else fi; ENDS(me, leave); unlock(me); rest(me) }

  /* ----- a reading */
  :: atomic { at[me] == idle && READS -> memo[me] = seen; memoFlushed[me] = seenFlushed; GO(me, readFreely) }
  :: atomic { at[me] == readFreely ->
       if
       :: isOpen[me] -> follow(end[me], head[me]); ok = (finding == NOTHING); if :: foundHead != head[me] -> durable[me] = 0 :: else fi
       :: else -> followToEnd(); classify(); include(memo[me], foundHead);
          ok = (finding == NOTHING && !isDamage && isIn && number[memo[me]] <= number[foundHead]);
          if :: ok -> isOpen[me] = 1; confirmed[me] = memo[me]; durable[me] = foundHead == 0 || (memo[me] == foundHead && memoFlushed[me]); needsClearing[me] = !isZero :: else fi
       fi;
       if
       :: ok -> head[me] = foundHead; end[me] = foundEnd; GO(me, confirm)
       :: else -> memo[me] = seen; memoFlushed[me] = seenFlushed; GO(me, lockToRead)
       fi;
       tidy() }
#ifdef TRACE                    /* a verification, an opening that accepts an alarm, and what else reads under the lock */
  :: atomic { (at[me] == readFreely || at[me] == confirm) && SOON(LOCK_SHARED) -> GO(me, lockToRead) }
#endif
  /* in doubt: what was remembered before is compared with the log while no process can write */
  :: atomic { at[me] == lockToRead && exclusive == 0 && SHOWS(LOCK_SHARED, me) -> TAKE; shared[me] = 1; sharers++; GO(me, readLocked) }
  :: atomic { at[me] == readLocked ->
       followToEnd(); classify(); judge(me);
       if
       :: isAlarm || isDamage -> GO(me, failRead)
       :: else -> isOpen[me] = 1; head[me] = foundHead; end[me] = foundEnd; confirmed[me] = 0; durable[me] = foundHead == 0; needsClearing[me] = !isZero; GO(me, releaseRead)
       fi; tidy() }
  :: atomic { at[me] == releaseRead && SHOWS(UNLOCK, me) -> TAKE; unlock(me); GO(me, confirm) }
  /* what is not known to be durable is confirmed before it is given out */
  :: atomic { at[me] == confirm ->
       if
#ifdef TRACE                    /* the header, which this machine has not remembered yet; what it remembers is not shown */
       :: head[me] == 0 -> GO(me, lockToConfirm)
#endif
       :: head[me] == 0 || confirmed[me] == head[me] || seen == head[me] -> confirmed[me] = head[me]; GO(me, giveOut)
       :: else -> sample[me] = toldErrors; GO(me, lockToConfirm)
       fi }
  :: atomic { at[me] == lockToConfirm && exclusive == 0 && SHOWS(LOCK_SHARED, me) -> TAKE; shared[me] = 1; sharers++; isLocked[me] = 1; GO(me, lookUnderLock) }
#ifdef FORMER_READER
  :: atomic { at[me] == lockToConfirm && exclusive != 0 -> isLocked[me] = 0; GO(me, lookUnderLock) }
#else
  :: atomic { at[me] == lockToConfirm && seen == head[me] -> confirmed[me] = head[me]; GO(me, giveOut) }
  :: atomic { at[me] == lockToConfirm && exclusive != 0 ->
       follow(end[me], head[me]);
       if
       :: finding != NOTHING -> memo[me] = seen; memoFlushed[me] = seenFlushed; GO(me, lockToRead)
       :: finding == NOTHING && foundHead != head[me] -> GO(me, rememberRead)        /* another record follows: the head was flushed before */
       :: finding == NOTHING && foundHead == head[me] -> GO(me, failRead)            /* busy: the lock timeout is over */
       fi; tidy() }
#endif
  :: atomic { at[me] == lookUnderLock ->
       headIsThere(me);
       if
       :: !ok -> memo[me] = seen; memoFlushed[me] = seenFlushed; GO(me, unlockAndRead)
       :: ok && seen == head[me] -> GO(me, unlockRead)
       :: ok && seen != head[me] -> GO(me, flushToRead)
       fi; ok = 0 }
  :: atomic { at[me] == unlockAndRead && (!shared[me] || SHOWS(UNLOCK, me)) -> if :: shared[me] -> TAKE :: else fi; unlock(me); GO(me, lockToRead) }
  :: atomic { at[me] == flushToRead && SHOWS(FLUSH, me) ->
       synchronize(me);
       if
       :: ok -> GO(me, flushNameToRead)
#ifdef FORMER_V1
       :: !ok -> GO(me, lookAgain)
#else
#ifdef FORMER_V2
       :: !ok && !isLocked[me] -> GO(me, confirm)
       :: !ok && isLocked[me] -> GO(me, lookAgain)
#else
       :: !ok -> GO(me, failRead)
#endif
#endif
       fi; ok = 0 }
  /* compaction.pml has the folder */
#ifdef TRACE
  :: atomic { at[me] == flushNameToRead && SHOWS(FLUSH_FOLDER, me) -> TAKE; GO(me, failRead) }
#endif
  :: atomic { at[me] == flushNameToRead -> GO(me, rememberRead) }
  :: atomic { at[me] == rememberRead && SHOWS_SEEN(head[me], 0) -> REMEMBER(head[me], 0);
#ifdef FORMER_READER
       GO(me, lookAgain) }
  :: atomic { at[me] == lookAgain ->
       headIsThere(me);
       if
       :: !isLocked[me] && !ok -> if :: seen == head[me] -> seen = previous[head[me]]; seenFlushed = 0 :: else fi; GO(me, lockToRead)
       :: else -> GO(me, unlockRead)
       fi; ok = 0 }
#else
       GO(me, unlockRead) }
#endif
#ifdef FORMER_V13
  /* another thread of the process flushes, to remember the file's location */
  :: atomic { at[me] != idle && isOpen[me] -> synchronize(me); ok = 0 }
#endif
  :: atomic { at[me] == unlockRead && (!shared[me] || SHOWS(UNLOCK, me)) -> if :: shared[me] -> TAKE :: else fi; unlock(me); confirmed[me] = head[me]; GO(me, giveOut) }
  :: atomic { at[me] == giveOut -> if :: head[me] != 0 -> givenOut[head[me]] = 1 :: else fi; ENDS(me, giveOut); rest(me);
#ifndef TRACE
       if :: reset(me) :: skip fi
#endif
       }
  :: atomic { at[me] == failRead && (!shared[me] || SHOWS(UNLOCK, me)) -> if :: shared[me] -> TAKE :: else fi; ENDS(me, failRead); reset(me) }

#ifdef TRACE
  /* ----- what only a trace shows: ends of operations, of processes, and writers that find nothing to write */
  :: atomic { at[me] == idle && SHOWS(DONE, me) && outcome[me] != refuse && outcome[me] != poison -> outcome[me] = 0; TAKE }
  :: atomic { at[me] == idle && SHOWS(REFUSED, me) && outcome[me] != acknowledge && outcome[me] != poison -> outcome[me] = 0; TAKE }
  :: atomic { at[me] == idle && SHOWS(UNKNOWN, me) && outcome[me] != refuse -> outcome[me] = 0; TAKE }
  :: atomic { at[me] == idle && SHOWS(GIVEN, me) && outcome[me] != failRead -> outcome[me] = 0; TAKE }
  :: atomic { at[me] == idle && SHOWS(FAILED, me) && outcome[me] != giveOut -> outcome[me] = 0; TAKE }
  :: atomic { at[me] == poison && SHOWS(UNLOCK, me) -> TAKE; reset(me); outcome[me] = poison }
  :: atomic { (at[me] == makeReady || at[me] == rewriteNewest || at[me] == planRecord) && SHOWS(UNLOCK, me) -> TAKE; outcome[me] = leave; unlock(me); rest(me) }
  :: atomic { (at[me] == makeReady || at[me] == rewriteNewest || at[me] == planRecord) && SHOWS(FLUSH_FOLDER, me) -> TAKE; GO(me, leave) }
  :: atomic { at[me] == rewriteNewest && count == 2 && SHOWS_SEEN(1, 1) -> REMEMBER(1, 1); durable[me] = 1 }     /* SealedLog.publish: the newest record that it has copied */
  :: atomic { at[me] == planRecord && SHOWS(ZEROS_FAIL, me) -> TAKE; GO(me, leave) }
  :: atomic { at[me] == idle && isOpen[me] && (WRITES || READS) -> reset(me) }          /* the vault is opened anew */
  :: atomic { at[me] == idle && SHOWS(FLUSH, me) -> TAKE }      /* SealedLog.flush at the first opening, makeDurable */
  :: atomic { (SHOWS(KILLED, me) || SHOWS(START, me)) && nextA == me % THREADS -> reset(me); outcome[me] = 0; if :: nextB -> at[me] = stuck :: else fi; TAKE }      /* b: there is no such thread */
  :: atomic { ACCEPTED }
#endif
#ifndef TRACE
  :: atomic { at[me] == idle && WRITES && !MORE -> break }
#endif
  od
}

#ifndef TRACE
proctype Accidents() {
  byte p;
  do
  :: atomic { kills < KILLS -> kills++;
       p = 0; do :: p < PROCESSES - 1 -> p++ :: break od;
       if :: at[p] != idle || isOpen[p] -> reset(p) :: else -> kills-- fi; p = 0 }
  :: atomic { powers < POWER -> powers++;
       i = 0; do :: i < SECTORS -> if :: dirty[i] && DIFFERS(i) -> if :: KEEP(i) :: skip fi :: else fi; dirty[i] = 0; LOSE(i); i++ :: else -> break od;
       errors = 0; toldErrors = 0;
       if :: mark -> if :: mark = 0 :: skip fi :: else fi;
       i = 1;
       do
       :: i < count ->
          c = 0; ok = 1; do :: c < length[i] -> if :: disk[start[i] + c] != CELL(i, c) -> ok = 0 :: else fi; c++ :: else -> break od; c = 0;
          if
          :: !ok ->
         /* the one excuse: a flush failed, and left the record in clean pages */
             assert(!givenOut[i] || unwritten[i]);
             if :: unwritten[i] -> givenOut[i] = 0; excused[i] = 1 :: else fi
          :: else
          fi; i++
       :: else -> break
       od;
       i = 0; ok = 0;
       if :: seenDisk = seen; seenFlushedDisk = seenFlushed :: seen = seenDisk; seenFlushed = seenFlushedDisk fi;
       p = 0; do :: p < PROCESSES -> reset(p); p++ :: else -> break od; p = 0 }
#ifdef BACKGROUND               /* the kernel writes back by itself, and fails */
  :: atomic { fails < FAILS -> failing() }
#endif
  :: atomic { kills == KILLS && powers == POWER -> break }
  od
}
#endif

init { atomic { byte n = 0;
#ifdef TRACE
  LOAD;
  do
  :: nextKind == BASE ->        /* a record that was there before the trace, whose writer may have flushed it */
     count = 2; length[1] = nextB - nextA; start[1] = nextA; number[1] = 1; n = nextA;
     do :: n < nextB -> cache[n] = CELL(1, n - nextA); n++ :: else -> break od; n = 0;
     if :: seen = 1; seenFlushed = 1 :: seen = 1 :: skip fi; TAKE
  :: nextKind == REMAINS ->     /* what a power loss may have left behind the end */
     if
     :: n = nextA; do :: n < nextB -> cache[n] = LEFT; n++ :: else -> break od; n = 0
     :: skip
     fi; TAKE
  :: else -> break
  od;
#endif
  do :: n < PROCESSES -> run Process(n); n++ :: else -> break od;
#ifndef TRACE
  run Accidents()
#endif
  } }
