/* SQLCipher with the entries that the vault is measured with: a raw key, so that none is derived; a write-ahead log,
 * flushed at each commit; its own cache of pages as it comes. It ends if something fails.
 *
 *   sqlcipher fill PATH COUNT   makes a store of COUNT entries in one transaction, and prints the seconds
 *   sqlcipher get PATH COUNT    prints nanoseconds for each of many reads
 *   sqlcipher set PATH COUNT    prints the median of many durable sets, in microseconds */
#define SQLITE_HAS_CODEC
#include <sqlcipher/sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { value_size = 40, name_size = 20, gets = 200000, sets = 2000 };

static char value[value_size];
static sqlite3 *database;
static sqlite3_stmt *reading, *writing;

static void check(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "%s failed\n", what);
    exit(1);
}

static void run(const char *words) { check(sqlite3_exec(database, words, 0, 0, 0) == SQLITE_OK, words); }

static sqlite3_stmt *prepared(const char *words) {
    sqlite3_stmt *statement;
    check(sqlite3_prepare_v2(database, words, -1, &statement, 0) == SQLITE_OK, words);
    return statement;
}

static void open_store(const char *path) {
    check(sqlite3_open(path, &database) == SQLITE_OK, "open");
    run("PRAGMA key = \"x'00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff'\"");
    run("PRAGMA journal_mode = WAL");
    run("PRAGMA synchronous = FULL");
    run("CREATE TABLE IF NOT EXISTS entries (name TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID");
    reading = prepared("SELECT value FROM entries WHERE name = ?");
    writing = prepared("INSERT OR REPLACE INTO entries VALUES (?, ?)");
}

static void set(const char *name) {
    sqlite3_bind_text(writing, 1, name, name_size, SQLITE_STATIC);
    sqlite3_bind_blob(writing, 2, value, value_size, SQLITE_STATIC);
    check(sqlite3_step(writing) == SQLITE_DONE, "set");
    sqlite3_reset(writing);
}

static void get(const char *name) {
    sqlite3_bind_text(reading, 1, name, name_size, SQLITE_STATIC);
    check(sqlite3_step(reading) == SQLITE_ROW && sqlite3_column_bytes(reading, 0) == value_size, "get");
    sqlite3_reset(reading);
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
        run("BEGIN");
        for (long index = 0; index < count; index++) set(name_of(index));
        run("COMMIT");
        printf("%f\n", now() - start);
    } else if (strcmp(mode, "get") == 0) {
        /* Once before, so that what is kept in memory is there. */
        for (int round = 0; round < 2; round++) {
            start = now();
            for (long step = 0; step < gets; step++) get(name_of(scattered(step, count)));
        }
        printf("%f\n", (now() - start) * 1e9 / gets);
    } else if (strcmp(mode, "set") == 0) {
        printf("%f\n", median_set(count) * 1e6);
    } else {
        return 2;
    }
    return 0;
}
