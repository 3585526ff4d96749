/* SQLCipher: a raw key, so that none is derived; a write-ahead log, flushed at each commit; its own cache of pages as it
 * comes. */
#define SQLITE_HAS_CODEC
#include <sqlcipher/sqlite3.h>

#include "peer.h"

static sqlite3 *database;
static sqlite3_stmt *reading, *writing, *listing;

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
    listing = prepared("SELECT name FROM entries ORDER BY name");
}

static void set(const char *name) {
    sqlite3_bind_text(writing, 1, name, name_size, SQLITE_STATIC);
    sqlite3_bind_blob(writing, 2, value, value_size, SQLITE_STATIC);
    check(sqlite3_step(writing) == SQLITE_DONE, "set");
    sqlite3_reset(writing);
}

static void fill(long count) {
    run("BEGIN");
    for (long index = 0; index < count; index++) set(name_of(index));
    run("COMMIT");
}

static size_t get(const char *name) {
    sqlite3_bind_text(reading, 1, name, name_size, SQLITE_STATIC);
    size_t size = sqlite3_step(reading) == SQLITE_ROW ? (size_t)sqlite3_column_bytes(reading, 0) : 0;
    sqlite3_reset(reading);
    return size;
}

static long names(void) {
    long count = 0;
    while (sqlite3_step(listing) == SQLITE_ROW) count += sqlite3_column_bytes(listing, 0) == name_size;
    return count;
}
