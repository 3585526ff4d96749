/* What the other stores do with the entries that the vault is measured with. Each peer defines the five functions; all
 * end the process if something fails.
 *
 *   PEER fill PATH COUNT      makes a store of COUNT entries in one transaction, and prints the seconds
 *   PEER get PATH COUNT       prints nanoseconds for each of many reads
 *   PEER set PATH COUNT       prints the median of many durable sets, in microseconds
 *   PEER names PATH COUNT     reads all names, and prints the seconds */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { value_size = 40, name_size = 20, gets = 200000, sets = 2000 };

static void open_store(const char *path);
static void fill(long count);
static size_t get(const char *name);
static void set(const char *name);
static long names(void);

static char value[value_size];

static void check(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "%s failed\n", what);
    exit(1);
}

/* As Tools/Benchmark/Entries.swift writes and scatters them. */
static const char *name_of(long index) {
    static char name[name_size + 1];
    snprintf(name, sizeof name, "entry-%014ld", index);
    return name;
}

static long scattered(long step, long count) { return (long)((uint64_t)step * 2654435761u % (uint64_t)count); }

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int ascending(const void *left, const void *right) {
    double difference = *(const double *)left - *(const double *)right;
    return (difference > 0) - (difference < 0);
}

static double median_set(long count) {
    static double times[sets];
    for (int step = 0; step < sets; step++) {
        double start = now();
        set(name_of(scattered(step, count)));
        times[step] = now() - start;
    }
    qsort(times, sets, sizeof *times, ascending);
    return times[sets / 2];
}

int main(int words, char **arguments) {
    if (words != 4) return 2;
    const char *mode = arguments[1];
    long count = atol(arguments[3]);
    memset(value, 'v', value_size);
    open_store(arguments[2]);
    double start = now();
    if (strcmp(mode, "fill") == 0) {
        fill(count);
        printf("%f\n", now() - start);
    } else if (strcmp(mode, "get") == 0) {
        /* Once before, so that what is kept in memory is there. */
        for (int round = 0; round < 2; round++) {
            start = now();
            for (long step = 0; step < gets; step++) check(get(name_of(scattered(step, count))) == value_size, "get");
        }
        printf("%f\n", (now() - start) * 1e9 / gets);
    } else if (strcmp(mode, "set") == 0) {
        printf("%f\n", median_set(count) * 1e6);
    } else if (strcmp(mode, "names") == 0) {
        check(names() == count, "names");
        printf("%f\n", now() - start);
    } else {
        return 2;
    }
    return 0;
}
