// Two programs for the table of signals.
//
//   lead REPORT TERMINAL IGNORED COMMAND...   starts a command as a shell starts a job: in a group of its own, in front
//       of the terminal if TERMINAL is 1, with the signal IGNORED ignored (0: none). Writes to the descriptor REPORT
//       what becomes of it.
//   program NUMBER   says "ready" with its process, handles the signal NUMBER (0: none) by ending with 7, and waits.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void caught(int number) {
    (void)number;
    _exit(7);
}

static int program(int number) {
    if (number) signal(number, caught);
    dprintf(STDOUT_FILENO, "ready %d\n", getpid());
    for (;;) pause();
}

static int lead(int report, int has_terminal, int ignored, char **command) {
    setsid();
    if (has_terminal) ioctl(STDIN_FILENO, TIOCSCTTY, 0);
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        if (has_terminal) {
            signal(SIGTTOU, SIG_IGN);
            tcsetpgrp(STDIN_FILENO, getpid());
            signal(SIGTTOU, SIG_DFL);
        }
        if (ignored) signal(ignored, SIG_IGN);
        close(report);
        execvp(command[0], command);
        _exit(99);
    }
    dprintf(report, "%d\n", child);
    int status;
    while (waitpid(child, &status, WUNTRACED) == child) {
        if (WIFSTOPPED(status)) dprintf(report, "stopped\n");
        if (WIFEXITED(status)) return dprintf(report, "exit %d\n", WEXITSTATUS(status)), 0;
        if (WIFSIGNALED(status)) return dprintf(report, "signal\n"), 0;
    }
    return 1;
}

int main(int count, char **words) {
    if (count == 3 && strcmp(words[1], "program") == 0) return program(atoi(words[2]));
    return lead(atoi(words[2]), atoi(words[3]), atoi(words[4]), words + 5);
}
