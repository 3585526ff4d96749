// What Swift's Glibc module lacks: calls that are declared only for _GNU_SOURCE, calls with a variable number of
// arguments, and the arguments of the process. No system header is included here, so that no module but Glibc owns their types.
#pragma once
#include <stdint.h>

/// rename(2) that fails with EEXIST where it would replace something. Where the file system can do that only by half, the caller's
/// lock on the folder keeps others away meanwhile.
int vault_rename_exclusively(const char *_Nonnull from, const char *_Nonnull to);

/// The type of the file system that a file lies on, as in statfs(2); -1 if that fails.
int64_t vault_file_system_type(int descriptor);

/// Whether core dumps and debuggers of the same user may look into this process; returns the former state.
int vault_set_dumpable(int dumpable);

/// A descriptor that is readable while one of the signals is pending, as signalfd(2) makes it; -1, with errno, if that fails.
///
/// - Parameter signals: a sigset_t.
int vault_signal_descriptor(const void *_Nonnull signals);

/// A descriptor that is readable once eight bytes that are not all zero were written to it, as eventfd(2) makes it; -1, with
/// errno, if that fails.
int vault_event_descriptor(void);

/// Names the thread that calls this, for tools that show threads; at most 15 bytes.
void vault_name_thread(const char *_Nonnull name);

/// The number of the process's arguments, its own name included.
int vault_argument_count(void);

/// One of the process's arguments; null past the last.
const char *_Nullable vault_argument(int index);

/// Says that this is a test's process: the standard stores are then refused.
void vault_set_under_test(void);

int vault_is_under_test(void);
