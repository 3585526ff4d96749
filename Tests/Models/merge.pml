/* Two copies of a vault that went apart, were merged, compacted and copied, and the memories of two machines; Format.md, "Merging".

   `history` is the truth. `chain`, `merged` and `records` are what a file can tell of it. Each atomic block is a command.

   Sizes:        POSITIONS CHAIN (longest chain) MERGED (longest list of merged positions) STEPS (commands)
   Planted bugs: PLANT_UNION (positions below the first complete number are kept)
                 PLANT_NUMBER (the header's number does not follow the other copy's) */
#ifndef POSITIONS
#define POSITIONS 12
#endif
#ifndef CHAIN
#define CHAIN 2
#endif
#ifndef MERGED
#define MERGED 4
#endif
#ifndef STEPS
#define STEPS 6
#endif
#define BIT(p) (1 << (p))
byte number[POSITIONS]; byte positions = 1;
int history[2]; byte origin[2]; byte head[2]; int records[2]; int chain[2]; byte chainLength[2]; int merged[2]; byte mergedFirst[2], mergedLast[2];
byte seen[2]; byte steps;
byte i, j, n, first, last, r; int own, other, all; byte ownFirst, otherFirst;

/* LogView.includes, Manifest.includes. r: 0 excluded, 1 included, 2 unknown, 3 later than the head */
inline include(c, p) {
  if
  :: number[p] > number[head[c]] -> r = 3
  :: number[p] <= number[head[c]] && number[p] >= number[origin[c]] -> r = ((records[c] & BIT(p)) != 0 || p == origin[c] -> 1 : 0)
  :: else ->
     if :: number[origin[c]] - number[p] <= chainLength[c] -> r = ((chain[c] & BIT(p)) != 0 -> 1 : 0)
        :: number[origin[c]] - number[p] > chainLength[c] && merged[c] != 0 && number[p] >= mergedFirst[c] && number[p] <= mergedLast[c] -> r = ((merged[c] & BIT(p)) != 0 -> 1 : 0)
        :: else -> r = 2 fi
  fi
}
/* KnownHistory: all positions from a number on */
inline known(c, set, fst) {
  fst = number[origin[c]] - chainLength[c]; set = chain[c];
  if :: merged[c] != 0 && mergedLast[c] + 1 == fst -> set = set | merged[c]; fst = mergedFirst[c] :: else fi
}
/* SealedLog.append */
inline append(c) { number[positions] = number[head[c]] + 1; head[c] = positions; records[c] = records[c] | BIT(positions); history[c] = history[c] | BIT(positions); positions++ }
/* Compactor.finish: the notice, and the chain that ends with it; n: the new header's number */
inline compact(c) {
  append(c);
  chain[c] = chain[c] | BIT(origin[c]) | records[c]; chainLength[c] = chainLength[c] + 1 + (number[head[c]] - number[origin[c]]);
  i = 0; do :: chainLength[c] > CHAIN -> i = 0; do :: i < POSITIONS -> if :: (chain[c] & BIT(i)) != 0 && number[i] == number[head[c]] + 1 - chainLength[c] -> chain[c] = chain[c] & ~BIT(i) :: else fi; i++ :: else -> break od; chainLength[c]-- :: else -> break od;
  i = 0; n = number[head[c]] + 1
}
inline newHeader(c) { number[positions] = n; origin[c] = positions; head[c] = positions; records[c] = 0; history[c] = history[c] | BIT(positions); positions++ }
/* SealedLog.merge, Manifest.merge: copy c takes over what copy d has */
inline merge(c, d) {
  include(c, head[d]);
  if
  :: r == 1 -> skip
  :: else ->
     known(d, other, otherFirst); other = other | BIT(origin[d]) | records[d];
     append(c);                                    /* the entries */
     compact(c);
     own = chain[c]; ownFirst = n - chainLength[c];
     if :: merged[c] != 0 && mergedLast[c] + 1 == ownFirst -> own = own | merged[c]; ownFirst = mergedFirst[c] :: else fi;
     first = (ownFirst > otherFirst -> ownFirst : otherFirst);
#ifdef PLANT_UNION
     first = 0;
#endif
     all = 0; i = 0; j = 0; last = 0;
     do :: i < POSITIONS -> if :: ((own | other) & BIT(i)) != 0 && number[i] >= first -> all = all | BIT(i); j++; if :: number[i] > last -> last = number[i] :: else fi :: else fi; i++ :: else -> break od;
     i = 0;
     /* the newest MERGED of them; all with the number of the last one that is dropped are dropped */
     do :: j > MERGED ->
           first = 255; i = 0; do :: i < POSITIONS -> if :: (all & BIT(i)) != 0 && number[i] < first -> first = number[i] :: else fi; i++ :: else -> break od;
           i = 0; do :: i < POSITIONS -> if :: (all & BIT(i)) != 0 && number[i] == first -> all = all & ~BIT(i); j-- :: else fi; i++ :: else -> break od; i = 0
        :: else -> break od;
     i = 0; merged[c] = all; mergedLast[c] = last; mergedFirst[c] = 255; i = 0;
     do :: i < POSITIONS -> if :: (all & BIT(i)) != 0 && number[i] < mergedFirst[c] -> mergedFirst[c] = number[i] :: else fi; i++ :: else -> break od;
     i = 0; chain[c] = 0; chainLength[c] = 0; history[c] = history[c] | history[d];
#ifndef PLANT_NUMBER
     n = (n > last+1 -> n : last+1);
#endif
     newHeader(c)
  fi
}
/* Opening.opened of copy c on machine m: LogView.alarm, RollbackMemory.remember */
inline open(m, c) {
  include(c, seen[m]);
  if
  :: r == 3 || r == 0 -> assert((history[c] & BIT(seen[m])) == 0)                    /* no false alarm */
  :: r == 1 -> assert((history[c] & BIT(seen[m])) != 0); if :: number[head[c]] > number[seen[m]] -> seen[m] = head[c] :: else fi      /* no missed one */
  :: else -> if :: number[head[c]] > number[seen[m]] -> seen[m] = head[c] :: else fi
  fi
}
/* cp */
inline copy(c, d) { history[d] = history[c]; origin[d] = origin[c]; head[d] = head[c]; records[d] = records[c]; chain[d] = chain[c]; chainLength[d] = chainLength[c]; merged[d] = merged[c]; mergedFirst[d] = mergedFirst[c]; mergedLast[d] = mergedLast[c] }
inline tidy() { i = 0; j = 0; n = 0; first = 0; last = 0; r = 0; own = 0; other = 0; all = 0; ownFirst = 0; otherFirst = 0 }
active proctype Steps() {
  history[0] = 1; history[1] = 1; number[0] = 1;
  do
  :: atomic { steps < STEPS && positions + 3 < POSITIONS -> steps++;
       if :: append(0) :: append(1) :: compact(0); newHeader(0) :: compact(1); newHeader(1) :: true -> merge(0, 1) :: true -> merge(1, 0) :: copy(0, 1) :: copy(1, 0) fi; tidy() }
  :: atomic { steps > 0 -> if :: true -> open(0, 0) :: true -> open(0, 1) :: true -> open(1, 0) :: true -> open(1, 1) fi; tidy() }
  od
}
