#define _GNU_SOURCE
#include "CVaultCommand.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int vault_put_variables(const char *block, size_t count) {
    for (size_t offset = 0; offset < count; offset += strlen(block + offset) + 1)
        if (putenv((char *)block + offset) != 0) return errno;
    return 0;
}

void vault_remove_variables(const char *block, size_t count) {
    for (size_t offset = 0; offset < count; offset += strlen(block + offset) + 1) {
        char *name = strndup(block + offset, strcspn(block + offset, "="));
        if (name) unsetenv(name);
        free(name);
    }
}

int vault_execute(int first) {
    char *const *command = vault_arguments(first);
    execvp(command[0], command);
    return errno;
}

int vault_execute_instead(const char *path) {
    execv(path, vault_arguments(0));
    return errno;
}

static int has(uint64_t signals, int number) {
    return signals >> (number - 1) & 1;
}

// The child shares this program's memory and must not run its signal handlers, so it restores the default actions.
static void set_actions(const struct vault_child *child) {
    for (int number = 1; number <= 64; number++) {
        struct sigaction action;
        if (sigaction(number, 0, &action) != 0) continue;
        int is_handled = action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
        if (!is_handled && !has(child->defaults | child->ignored, number)) continue;
        action = (struct sigaction){.sa_handler = has(child->ignored, number) ? SIG_IGN : SIG_DFL};
        sigaction(number, &action, 0);
    }
}

static int set_streams(const struct vault_child *child) {
    int terminal = -1;
    if (child->terminal) {
        setsid();
        // Opened without O_NOCTTY, the terminal becomes the controlling terminal of the new session.
        terminal = open(child->terminal, O_RDWR | O_CLOEXEC);
        if (terminal < 0) return -1;
    }
    const int streams[] = {child->input, child->output, child->error};
    for (int number = STDIN_FILENO; number <= STDERR_FILENO; number++) {
        int from = streams[number] == VAULT_STREAM_TERMINAL ? terminal : streams[number];
        if (from == VAULT_STREAM_CLOSED) close(number);
        if (from >= 0 && dup2(from, number) < 0) return -1;
    }
    return 0;
}

// posix_spawn(3) does not suffice. It cannot make the kernel kill the child when its parent ends, nor ignore a signal.
int vault_spawn(const struct vault_child *child, int *process) {
    char *const *command = vault_arguments(child->first);
    pid_t parent = getpid();
    volatile int error = 0;
    // The child shares this process's memory, so no secret is copied. This process waits until the child executes its
    // program.
    pid_t started = vfork();
    if (started < 0) return errno;
    if (started == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent && set_streams(child) == 0) {
            set_actions(child);
            uint64_t blocked = child->blocked;
            syscall(SYS_rt_sigprocmask, SIG_SETMASK, &blocked, 0, sizeof blocked);
            execvp(command[0], command);
        }
        error = errno;
        _exit(127);
    }
    if (error != 0) {
        while (waitpid(started, 0, 0) < 0 && errno == EINTR) {}
        return error;
    }
    *process = started;
    return 0;
}
