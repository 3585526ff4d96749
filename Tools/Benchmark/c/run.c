/* Measures commands against each other: each round starts every command once, one after the other, so that what
 * else the machine does meanwhile strikes all alike. Ratios are taken within a round, and their median printed.
 *
 *   run ROUNDS INPUT LABEL COMMAND ARGS... [-- LABEL COMMAND ARGS...]...
 *
 * INPUT becomes the standard input of each. In an argument, {} becomes the number of the round, and {N} the 14 digits
 * of a number below N that changes from round to round. A line for each command, its fields parted by tabs:
 *
 *   label, median in milliseconds, median ratio to the first command, to the second, peak memory in bytes
 *
 * Peak memory is ru_maxrss, which counts what this program itself held when it started the child: less than 2 MiB,
 * since it is static and keeps no more than its times. */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

enum { warm_up = 10, most_commands = 16, most_arguments = 32, longest = 4096 };

struct command {
    char *label;
    char **arguments; /* of argc, ended by null */
    double *times;    /* milliseconds, by round */
    long peak;        /* KiB */
};

static void fail(const char *what, const char *which) {
    fprintf(stderr, "run: %s: %s\n", which, what);
    exit(1);
}

/* Writes `from` to `to` with its first {} or {N} filled in. */
static void expand(char *to, const char *from, long round) {
    const char *open = strchr(from, '{'), *close = open ? strchr(open, '}') : NULL;
    if (!close) {
        snprintf(to, longest, "%s", from);
        return;
    }
    char number[32];
    long bound = atol(open + 1);
    /* Knuth's multiplier scatters the rounds over all of 0 ..< bound. */
    if (bound > 0) snprintf(number, sizeof number, "%014lu", (unsigned long)round * 2654435761ul % (unsigned long)bound);
    else snprintf(number, sizeof number, "%ld", round);
    snprintf(to, longest, "%.*s%s%s", (int)(open - from), from, number, close + 1);
}

/* Runs a command to its end; returns milliseconds. */
static double once(struct command *command, posix_spawn_file_actions_t *files, long round) {
    static char texts[most_arguments][longest];
    char *arguments[most_arguments + 1];
    int count = 0;
    for (; command->arguments[count]; count++) {
        if (count == most_arguments) fail("too many arguments", command->label);
        expand(texts[count], command->arguments[count], round);
        arguments[count] = texts[count];
    }
    arguments[count] = NULL;
    struct timespec start, end;
    struct rusage usage;
    pid_t child;
    int status;
    clock_gettime(CLOCK_MONOTONIC, &start);
    if (posix_spawn(&child, arguments[0], files, NULL, arguments, environ) != 0) fail("does not start", arguments[0]);
    if (wait4(child, &status, 0, &usage) != child) fail("cannot be waited for", arguments[0]);
    clock_gettime(CLOCK_MONOTONIC, &end);
    /* A command that fails is not a fast command. */
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail("failed", command->label);
    if (usage.ru_maxrss > command->peak) command->peak = usage.ru_maxrss;
    return (end.tv_sec - start.tv_sec) * 1e3 + (end.tv_nsec - start.tv_nsec) / 1e6;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of times, each divided by the other's of the same round where there is another. */
static double median(const double *times, const double *others, long rounds) {
    double *sorted = malloc(rounds * sizeof *sorted);
    if (!sorted) fail("no memory", "median");
    for (long round = 0; round < rounds; round++) sorted[round] = others ? times[round] / others[round] : times[round];
    qsort(sorted, rounds, sizeof *sorted, ascending);
    double middle = (sorted[(rounds - 1) / 2] + sorted[rounds / 2]) / 2;
    free(sorted);
    return middle;
}

int main(int argc, char **argv) {
    if (argc < 5) fail("run ROUNDS INPUT LABEL COMMAND ARGS... [-- LABEL COMMAND ARGS...]...", "usage");
    long rounds = atol(argv[1]);
    if (rounds < 1) fail("the number of rounds is to be at least 1", argv[1]);
    struct command commands[most_commands];
    int count = 0;
    for (int at = 3; at < argc; at++) {
        if (count == most_commands || at + 1 >= argc) fail("too many commands, or a label without one", argv[at]);
        double *times = calloc(rounds, sizeof *times);
        if (!times) fail("no memory", argv[at]);
        commands[count++] = (struct command){argv[at], argv + at + 1, times, 0};
        while (at < argc && strcmp(argv[at], "--") != 0) at++;
        if (at < argc) argv[at] = NULL;
    }
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, argv[2], O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    for (long round = -warm_up; round < rounds; round++)
        for (int turn = 0; turn < count; turn++) {
            /* Another one begins each round: none always comes after the same one. */
            int index = (turn + round + warm_up) % count;
            double time = once(&commands[index], &files, round + warm_up);
            if (round >= 0) commands[index].times[round] = time;
        }
    for (int index = 0; index < count; index++) {
        struct command *command = &commands[index];
        printf("%s\t%.4f\t%.3f\t%.3f\t%ld\n", command->label, median(command->times, NULL, rounds),
               median(command->times, commands[0].times, rounds),
               median(command->times, commands[count > 1 ? 1 : 0].times, rounds), command->peak * 1024);
    }
    return 0;
}
