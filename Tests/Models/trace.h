/* A trace of events, read from the file in MODEL_TRACE: kind, process, a, b, c, d, file and line of each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct event { int kind, process, a, b, c, d, file, line; };
static struct event *trace;
static int trace_length, furthest;
/* soon[n][p]: the kind of the next event of process p, from event n on */
static unsigned char (*soon)[256];

static void refuse_trace(void) {
    if (furthest < trace_length) printf("REFUSED %d\n", trace[furthest].line);
}

static void read_trace(void) {
    FILE *file = fopen(getenv("MODEL_TRACE") ? getenv("MODEL_TRACE") : "", "r");
    struct event e;
    int size = 0;
    if (!file) { fprintf(stderr, "MODEL_TRACE names no trace\n"); exit(2); }
    while (fscanf(file, "%d %d %d %d %d %d %d %d", &e.kind, &e.process, &e.a, &e.b, &e.c, &e.d, &e.file, &e.line) == 8) {
        if (trace_length == size) trace = realloc(trace, (size = size * 2 + 64) * sizeof *trace);
        trace[trace_length++] = e;
    }
    fclose(file);
    soon = calloc(trace_length + 1, sizeof *soon);
    for (int n = trace_length - 1; n >= 0; n--) {
        memcpy(soon[n], soon[n + 1], sizeof *soon);
        soon[n][trace[n].process] = trace[n].kind;
    }
    atexit(refuse_trace);
}

static void load_event(int n, int *kind, int *process, int *a, int *b, int *c, int *d, int *of) {
    struct event none = {0}, e;
    if (!trace) read_trace();
    if (n > furthest) furthest = n;
    e = n < trace_length ? trace[n] : none;
    *kind = e.kind; *process = e.process; *a = e.a; *b = e.b; *c = e.c; *d = e.d; *of = e.file;
}

static void accept_trace(int *covered) {
    printf("ACCEPTED %d %d %d\n", covered[0], covered[1], covered[2]);
    furthest = trace_length;
    exit(0);
}
