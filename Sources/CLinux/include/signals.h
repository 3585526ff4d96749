// Signals by their numbers: the bit N - 1 of a set is signal N, as the kernel has it. glibc's own sets leave out the
// two that it keeps to itself (32 and 33), which end a process as any other does.
#pragma once
#include <stdint.h>

/// Changes which signals are blocked for the calling thread, by rt_sigprocmask(2), and returns those that were.
///
/// - Parameter how: SIG_BLOCK, SIG_UNBLOCK or SIG_SETMASK.
uint64_t vault_change_blocked_signals(int how, uint64_t signals);

/// Returns a descriptor that is readable while one of the signals is pending, by signalfd(2); -1, with errno, if that
/// fails.
int vault_signal_descriptor(uint64_t signals);

struct vault_signal {
    int number;
    /// Whether no process has sent it: the terminal sends Ctrl-C to a whole process group.
    int is_from_kernel;
    /// Whether the kernel tells by it that a child has changed its state.
    int is_of_child;
    /// The process that has sent it; 0 if that is not known.
    int sender;
};

/// Takes a pending signal from such a descriptor, and waits for one if there is none. Returns -1, with errno, if that
/// fails.
int vault_next_signal(int descriptor, struct vault_signal *_Nonnull signal);

/// Removes the file named by ``vault_guard_temporary`` before SIGHUP, SIGINT, SIGQUIT or SIGTERM ends the process.
/// Ignored signals stay ignored. For programs with one thread that receives signals.
void vault_remove_temporary_on_signals(void);

/// Names the file that is removed when a signal ends the process, or none. Has no effect before
/// ``vault_remove_temporary_on_signals``.
void vault_guard_temporary(const char *_Nullable path);
