// Sets of signals by their numbers, as in the kernel: bit N - 1 of a set is signal N. glibc's own sets leave out the
// two that it reserves (32 and 33), which end a process as any other does.
#pragma once
#include <stdint.h>

/// Changes which signals are blocked for the calling thread, by rt_sigprocmask(2), and returns the former set.
///
/// - Parameter how: SIG_BLOCK, SIG_UNBLOCK or SIG_SETMASK.
uint64_t vault_change_blocked_signals(int how, uint64_t signals);

/// Returns a descriptor that is readable while one of the signals is pending, by signalfd(2); -1, with errno, if that
/// fails.
int vault_signal_descriptor(uint64_t signals);

struct vault_signal {
    int number;
    /// Whether no process sent it: the terminal sends Ctrl-C to a whole process group.
    int is_from_kernel;
    /// Whether the kernel sent it because a child has changed its state.
    int is_of_child;
    /// The process that sent it; 0 if that is unknown.
    int sender;
};

/// Takes a pending signal from such a descriptor, or waits for one. Returns -1, with errno, if that fails.
int vault_next_signal(int descriptor, struct vault_signal *_Nonnull signal);

/// Makes SIGHUP, SIGINT, SIGQUIT and SIGTERM remove the file named by ``vault_guard_temporary`` before they end the
/// process. Ignored signals stay ignored. For programs in which one thread receives signals.
void vault_remove_temporary_on_signals(void);

/// Names the file that is removed when a signal ends the process; null for none. Has no effect before
/// ``vault_remove_temporary_on_signals``.
void vault_guard_temporary(const char *_Nullable path);
