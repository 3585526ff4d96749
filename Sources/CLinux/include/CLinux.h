// What Swift's Glibc module lacks: calls that are declared only for _GNU_SOURCE, calls with a variable number of
// arguments, and the arguments of the process. No system header is included here, so that no module but Glibc owns
// their types.
#pragma once
#include <stdint.h>

/// rename(2) that fails with EEXIST where it would replace something. Where the file system can do that only by half,
/// the caller's lock on the folder keeps others away meanwhile.
int vault_rename_exclusively(const char *_Nonnull from, const char *_Nonnull to);

/// The offset of the next bytes of a file that are not in a hole, as lseek(2) finds it with SEEK_DATA; -1, with errno,
/// if that fails: ENXIO if there are none.
int64_t vault_next_data(int descriptor, int64_t offset);

/// The type of the file system that holds a file, as in statfs(2), and whether it is mounted read-only; -1 if that
/// fails.
int64_t vault_file_system_type(int descriptor, int *_Nonnull isReadOnly);

/// Whether core dumps and debuggers of the same user may look into this process; returns the former state.
int vault_set_dumpable(int dumpable);

/// A descriptor that is readable while one of the signals is pending, as signalfd(2) makes it; -1, with errno, if that
/// fails.
///
/// - Parameter signals: a sigset_t.
int vault_signal_descriptor(const void *_Nonnull signals);

/// A descriptor that is readable once eight bytes that are not all zero were written to it, as eventfd(2) makes it; -1,
/// with errno, if that fails.
int vault_event_descriptor(void);

/// Lets the signals that end a process by a person's or the system's wish first remove the file that
/// ``vault_guard_temporary`` has named. Those that are ignored stay so. For programs with one thread that takes signals.
void vault_remove_temporary_on_signals(void);

/// Names the file that is removed when a signal ends the process, or none. Does nothing unless that was asked for.
void vault_guard_temporary(const char *_Nullable path);

/// Names the thread that calls this, for tools that show threads; at most 15 bytes.
void vault_name_thread(const char *_Nonnull name);

/// The number of the process's arguments, its own name included.
int vault_argument_count(void);

/// One of the process's arguments; null past the last.
const char *_Nullable vault_argument(int index);

/// Says that this is a test's process: the standard stores are then refused.
void vault_set_under_test(void);

int vault_is_under_test(void);
