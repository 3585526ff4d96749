// The floor of a vault in a database: what a program does that keeps sealed records in PostgreSQL by libpq, and nothing
// else. It takes the lock first, reads what others have appended, and then appends: two round trips, as VaultShared
// does.
//
// Usage: postgres get CONNINFO | set CONNINFO | load CONNINFO COUNT SIZE | set-large CONNINFO | get-large CONNINFO
//   get        connects, and asks once for a row
//   set        connects, and appends one record of 300 bytes
//   load       connects, and appends COUNT of them with SIZE bytes each, one after the other
//   set-large  appends standard input as one record, in pieces of 256 KiB
//   get-large  writes the newest record to standard output
#include <endian.h>
#include <libpq-fe.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE (256 << 10)
#define LARGEST (64 << 20)

static void fail(PGconn *connection, const char *what) {
    fprintf(stderr, "%s: %s\n", what, PQerrorMessage(connection));
    exit(1);
}

// Adds a statement to a flight; with a binary parameter, if it has one.
static void add(PGconn *connection, const char *text, const void *value, int size) {
    const char *values[] = {value};
    const int lengths[] = {size}, formats[] = {1};
    if (!PQsendQueryParams(connection, text, value ? 1 : 0, NULL, values, lengths, formats, 1)) fail(connection, text);
}

// Ends a flight, and waits for all of its results. Returns the column "head" of one of them, in the byte order of the
// network.
static uint64_t finish(PGconn *connection) {
    uint64_t head = 0;
    if (!PQpipelineSync(connection)) fail(connection, "sync");
    for (;;) {
        PGresult *result = PQgetResult(connection);
        if (!result) continue;
        ExecStatusType status = PQresultStatus(result);
        if (status != PGRES_PIPELINE_SYNC && status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
            fail(connection, "a statement");
        int column = PQfnumber(result, "head");
        if (column >= 0) memcpy(&head, PQgetvalue(result, 0, column), sizeof head);
        PQclear(result);
        if (status == PGRES_PIPELINE_SYNC) return head;
    }
}

// Appends a record behind the one that this process knows as the newest, in the byte order of the network, and behind
// those that others have appended since.
static void append(PGconn *connection, const char *bytes, int size, uint64_t *known) {
    add(connection, "BEGIN", NULL, 0);
    add(connection, "SELECT pg_advisory_xact_lock(1)", NULL, 0);
    add(connection, "SELECT sequence FROM floor_head FOR UPDATE", NULL, 0);
    add(connection, "SELECT sequence, bytes FROM floor_record WHERE sequence > $1::int8", known, sizeof *known);
    finish(connection);
    const char *text =
        "WITH moved AS (UPDATE floor_head SET sequence = sequence + 1 RETURNING sequence)"
        " INSERT INTO floor_record (sequence, bytes) SELECT sequence, $1::bytea FROM moved RETURNING sequence AS head";
    for (int start = 0; start < size; start += PIECE) {
        add(connection, text, bytes + start, size - start < PIECE ? size - start : PIECE);
        text = "INSERT INTO floor_record (sequence, bytes) SELECT sequence, $1::bytea FROM floor_head";
    }
    add(connection, "COMMIT", NULL, 0);
    *known = finish(connection);
}

static void read_newest(PGconn *connection) {
    PGresult *result = PQexecParams(
        connection,
        "SELECT bytes FROM floor_record WHERE sequence = (SELECT sequence FROM floor_head) ORDER BY piece",
        0, NULL, NULL, NULL, NULL, 1);
    if (PQresultStatus(result) != PGRES_TUPLES_OK) fail(connection, "get-large");
    for (int row = 0; row < PQntuples(result); row++)
        fwrite(PQgetvalue(result, row, 0), 1, PQgetlength(result, row, 0), stdout);
}

int main(int count, char **words) {
    if (count < 3) return 64;
    const char *command = words[1];
    PGconn *connection = PQconnectdb(words[2]);
    if (PQstatus(connection) != CONNECTION_OK) fail(connection, "connect");
    if (!strcmp(command, "get")) {
        PGresult *result = PQexecParams(
            connection, "SELECT sequence FROM floor_head", 0, NULL, NULL, NULL, NULL, 1);
        if (PQresultStatus(result) != PGRES_TUPLES_OK) fail(connection, "get");
        return 0;
    }
    if (!strcmp(command, "get-large")) {
        read_newest(connection);
        return 0;
    }
    if (!PQenterPipelineMode(connection)) fail(connection, "pipeline");
    int size = 300, repetitions = 1;
    if (!strcmp(command, "load")) {
        if (count < 5) return 64;
        repetitions = atoi(words[3]);
        size = atoi(words[4]);
    }
    char *bytes = malloc(LARGEST);
    if (!strcmp(command, "set-large"))
        size = (int)fread(bytes, 1, LARGEST, stdin);
    else
        memset(bytes, 7, size);
    // At first, as if it were the newest one.
    uint64_t known = htobe64(INT64_MAX);
    for (int i = 0; i < repetitions; i++) append(connection, bytes, size, &known);
    return 0;
}
