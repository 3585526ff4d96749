/* What a model shares with the check of traces; Tests/README.md, "Models".

   Without TRACE, a model is explored exhaustively: EVENT is true and TAKE does nothing. With TRACE, a step that a trace
   would show waits until the trace's next event is this step's, and takes it. The trace is in C arrays, outside the state. */
#define LOCK_EXCLUSIVE 1        /* flock(LOCK_EX) succeeded; b of each event: the file */
#define LOCK_SHARED 2
#define UNLOCK 3                /* or the descriptor was closed */
#define WRITE 4                 /* a: first cell, b: behind the last, c: record, d: its length in cells */
#define WRITE_FAILS 5           /* the same: what was written before the error */
#define ZEROS 6                 /* a: first cell, b: behind the last */
#define ZEROS_FAIL 7
#define MARK 8                  /* a: 1 zeros follow, 0 they are flushed */
#define FLUSH 9                 /* of the file; a: whether it succeeded */
#define FLUSH_FOLDER 10         /* a: whether it succeeded */
#define SEEN 11                 /* a: record, b: whether its writer has flushed it */
#define DONE 12                 /* a change is acknowledged */
#define REFUSED 13              /* a change was surely not made */
#define UNKNOWN 14              /* it may have been made */
#define GIVEN 15                /* what was read is given out */
#define FAILED 16               /* a read fails */
#define KILLED 17
#define CREATE 18               /* a replacement is there */
#define RENAME 19
#define REMOVE 20
#define START 21                /* a new process, in the location of one that has ended */
#define MARK_FAILS 25
#define WRITE_NEW 24            /* a file that has no name yet */
#define PAYLOAD_BEFORE 22       /* as WRITE: a part of a payload whose head follows */
#define PAYLOAD_FAILS 23
#define BASE 30                 /* before all others: a: first cell, b: behind the last, of a record that is there */
#define REMAINS 31              /* a: first cell, b: behind the last, where a power loss may have left something */

#ifdef TRACE
#define num int
c_decl { \#include "trace.h" }
int nextKind, nextProcess, nextA, nextB, nextC, nextD, nextFile, position, covered[3];
#define LOAD c_code { load_event(now.position, &now.nextKind, &now.nextProcess, &now.nextA, &now.nextB, &now.nextC, &now.nextD, &now.nextFile); }
#define TAKE position++; LOAD
#ifndef THREADS
#define THREADS 1               /* of each process of the trace; which one takes an event is open */
#endif
#define SHOWS(kind, me) (nextKind == kind && nextProcess == me / THREADS)
#define ONLY_SHOWS(kind, me) SHOWS(kind, me)
#define IS_TRACE true
#define IF_TRACE(x) (x)
#define GO(me, step) covered[at[me] / 30] = covered[at[me] / 30] | (1 << (at[me] % 30)); at[me] = step
#define ACCEPTED nextKind == 0 -> c_code { accept_trace(now.covered); }
#else
#define num byte
#define TAKE skip
#define SHOWS(kind, me) true
#define ONLY_SHOWS(kind, me) false
#define IS_TRACE false
#define IF_TRACE(x) true
#define GO(me, step) at[me] = step
#endif
