/* LMDB: nothing is encrypted. A transaction for each read and each set; a set is flushed. */
#include <lmdb.h>

#include "peer.h"

static MDB_env *environment;
static MDB_dbi database;

static void make(int status, const char *what) { check(status == MDB_SUCCESS, what); }

static MDB_txn *begun(unsigned flags) {
    MDB_txn *transaction;
    make(mdb_txn_begin(environment, 0, flags, &transaction), "begin");
    return transaction;
}

static void open_store(const char *path) {
    make(mdb_env_create(&environment), "create");
    make(mdb_env_set_mapsize(environment, (size_t)4 << 30), "map");
    make(mdb_env_open(environment, path, MDB_NOSUBDIR, 0600), "open");
    MDB_txn *transaction = begun(0);
    make(mdb_dbi_open(transaction, 0, 0, &database), "open");
    make(mdb_txn_commit(transaction), "commit");
}

static void put(MDB_txn *transaction, const char *name) {
    MDB_val key = {name_size, (void *)name}, data = {value_size, value};
    make(mdb_put(transaction, database, &key, &data, 0), "put");
}

static void set(const char *name) {
    MDB_txn *transaction = begun(0);
    put(transaction, name);
    make(mdb_txn_commit(transaction), "commit");
}

static void fill(long count) {
    MDB_txn *transaction = begun(0);
    for (long index = 0; index < count; index++) put(transaction, name_of(index));
    make(mdb_txn_commit(transaction), "commit");
}

static size_t get(const char *name) {
    MDB_txn *transaction = begun(MDB_RDONLY);
    MDB_val key = {name_size, (void *)name}, data;
    make(mdb_get(transaction, database, &key, &data), "get");
    char copy[value_size];
    memcpy(copy, data.mv_data, value_size);
    mdb_txn_abort(transaction);
    return data.mv_size;
}

static long names(void) {
    MDB_txn *transaction = begun(MDB_RDONLY);
    MDB_cursor *cursor;
    make(mdb_cursor_open(transaction, database, &cursor), "cursor");
    MDB_val key, data;
    char copy[name_size];
    long count = 0;
    while (mdb_cursor_get(cursor, &key, &data, MDB_NEXT) == MDB_SUCCESS) {
        memcpy(copy, key.mv_data, name_size);
        count += key.mv_size == name_size;
    }
    return count;
}
