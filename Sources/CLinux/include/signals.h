// These functions use the kernel's sets of signals, in which bit N - 1 stands for signal N. glibc's sets cannot contain
// signals 32 and 33, which glibc reserves, although those two signals can end a process like any other.
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
    /// Whether the kernel sent the signal, for example after Ctrl-C, which it sends to a whole process group.
    int is_from_kernel;
    /// Whether the kernel sent the signal because a child's state has changed.
    int is_of_child;
    /// The process that sent the signal; 0 if it is unknown.
    int sender;
};

/// Takes a pending signal from a ``vault_signal_descriptor``, or waits for one. Returns -1, with errno, if that fails.
int vault_next_signal(int descriptor, struct vault_signal *_Nonnull signal);

/// Makes SIGHUP, SIGINT, SIGQUIT and SIGTERM remove the file that ``vault_guard_temporary`` has set before they end the
/// process. Ignored signals stay ignored. Use this only in programs in which a single thread receives signals.
void vault_remove_temporary_on_signals(void);

/// Sets the file that is removed when a signal ends the process; null for none. Has an effect only after a call of
/// ``vault_remove_temporary_on_signals``.
void vault_guard_temporary(const char *_Nullable path);
