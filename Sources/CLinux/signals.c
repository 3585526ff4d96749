#define _GNU_SOURCE
#include "CLinux.h"
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

uint64_t vault_change_blocked_signals(int how, uint64_t signals) {
    uint64_t former = 0;
    syscall(SYS_rt_sigprocmask, (long)how, &signals, &former, sizeof signals);
    return former;
}

int vault_signal_descriptor(uint64_t signals) {
    sigset_t set;
    memset(&set, 0, sizeof set);
    memcpy(&set, &signals, sizeof signals);
    return signalfd(-1, &set, SFD_CLOEXEC);
}

int vault_next_signal(int descriptor, struct vault_signal *signal) {
    struct signalfd_siginfo found;
    if (read(descriptor, &found, sizeof found) != sizeof found) return -1;
    int is_of_child = found.ssi_signo == SIGCHLD && found.ssi_code > 0;
    *signal = (struct vault_signal){
        .number = (int)found.ssi_signo,
        .is_from_kernel = found.ssi_code > 0,
        .is_of_child = is_of_child,
        // A signal from a process has a code of 0 or less. For SI_TIMER, ssi_pid has another meaning.
        .sender = found.ssi_code <= 0 && found.ssi_code != SI_TIMER ? (int)found.ssi_pid : 0,
    };
    return 0;
}

static int is_enabled;
static char temporary[PATH_MAX];
static volatile sig_atomic_t is_guarded;

// This signal handler makes only calls that POSIX allows in one. SA_RESETHAND has already restored the default action,
// so raise(3) ends the process.
static void remove_temporary(int number) {
    int error = errno;
    if (is_guarded) unlink(temporary);
    errno = error;
    raise(number);
    // A signal's default action does not end the first process of a container.
    _exit(128 + number);
}

void vault_remove_temporary_on_signals(void) {
    static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    is_enabled = 1;
    for (unsigned index = 0; index < sizeof numbers / sizeof *numbers; index++) {
        struct sigaction former;
        if (sigaction(numbers[index], 0, &former) != 0 || former.sa_handler == SIG_IGN) continue;
        struct sigaction action = {.sa_handler = remove_temporary, .sa_flags = SA_RESETHAND | SA_NODEFER};
        sigaction(numbers[index], &action, 0);
    }
}

void vault_guard_temporary(const char *path) {
    if (!is_enabled) return;
    is_guarded = 0;
    atomic_signal_fence(memory_order_seq_cst);
    if (!path || strlen(path) >= sizeof temporary) return;
    strcpy(temporary, path);
    atomic_signal_fence(memory_order_seq_cst);
    is_guarded = 1;
}
