// What Swift's Glibc module lacks: calls that are declared only for _GNU_SOURCE, and calls with a variable number of
// arguments. It includes no other system header, so that the module Glibc alone owns their types.
#pragma once
#include <stdint.h>

#include "keyring.h"
#include "signals.h"
#include "sockets.h"
#include "terminals.h"

/// Renames like rename(2), but fails with EEXIST instead of replacing a file. On file systems that cannot do that in
/// one step, the caller's lock on the folder must keep others away.
int vault_rename_exclusively(const char *_Nonnull from, const char *_Nonnull to);

/// Returns the offset of the next bytes of a file that are not in a hole, by lseek(2) with SEEK_DATA; -1, with errno,
/// if that fails: ENXIO if there are none.
int64_t vault_next_data(int descriptor, int64_t offset);

/// Returns up to which offset this process may write to files, by getrlimit(2) with RLIMIT_FSIZE.
uint64_t vault_file_size_limit(void);

/// Locks or releases one byte of a file, by fcntl(2), without waiting; -1, with errno, if that fails: EAGAIN if another
/// one has it.
///
/// - Parameters:
///   - kind: F_WRLCK, F_RDLCK or F_UNLCK.
///   - isOfProcess: whether the lock is this process's (F_SETLK), for a descriptor that other processes share;
///     otherwise it is of the open file description (F_OFD_SETLK).
int vault_lock_byte(int descriptor, int64_t offset, int kind, int isOfProcess);

/// Whether another one has locked a byte, in whatever way.
int vault_is_byte_locked(int descriptor, int64_t offset, int isOfProcess);

/// What statx(2) tells of a file. The times are in nanoseconds, and 0 unless they were asked for.
struct vault_status {
    uint64_t device, inode, size;
    int64_t contents_changed, changed;
    uint32_t mode, owner, group, links;
};

/// Looks at an open file, or, if the descriptor is -1, at the one that a path leads to. Returns -1, with errno, if that
/// fails.
int vault_look_at(int descriptor, const char *_Nonnull path, int withTimes, struct vault_status *_Nonnull status);

/// Returns the type of the file system that a file is on, as in statfs(2), and whether it is mounted read-only; -1 if
/// that fails.
int64_t vault_file_system_type(int descriptor, int *_Nonnull isReadOnly);

/// syncfs(2), which Glibc's module hides.
int vault_synchronize_file_system(int descriptor);

/// Returns whether core dumps and debuggers of the same user may read this process; also if that is unknown.
int vault_is_dumpable(void);

/// Forbids core dumps and debuggers of the same user to read this process. Returns -1 if the system does not let it.
int vault_forbid_reading(void);

/// Sets whether core dumps and debuggers of the same user may read this process, and returns the former state.
int vault_set_dumpable(int dumpable);

/// Forbids this process core dumps, by setrlimit(2). Only the soft limit: an ordinary user could never raise the hard
/// one again.
void vault_forbid_core_dumps(void);

/// Allows a child process, or with 0 this one, the core dumps that this process was allowed before it forbade them
/// itself.
void vault_permit_core_dumps(int32_t process);

/// Lets a program that posix_spawn(3) starts have a session of its own, and no open file but the standard streams.
/// Returns 0 or the error's number.
///
/// - Parameters:
///   - actions: a posix_spawn_file_actions_t.
///   - flags: those of its attributes, to which one is added.
int vault_spawn_apart(void *_Nonnull actions, int16_t *_Nonnull flags);

/// Creates a file in memory that has no path, by memfd_create(2), for this process alone; -1, with errno, if that
/// fails.
int vault_memory_file(void);

/// Makes a file in memory unchangeable, by fcntl(2) with F_ADD_SEALS; -1, with errno, if that fails.
int vault_seal_memory_file(int descriptor);

/// Returns a descriptor that is readable after eight bytes that are not all zero were written to it, by eventfd(2); -1,
/// with errno, if that fails.
int vault_event_descriptor(void);

/// Opens a pipe: its reading end, then its writing end, neither inherited by other programs; -1, with errno, if that
/// fails.
int vault_pipe(int *_Nonnull ends);

/// Overwrites an open file with zeros, in place; -1, with errno, if that fails.
int vault_wipe_file(int descriptor);

/// Overwrites and removes all files below a folder, then removes it. Follows no symbolic link. Returns -1 if something
/// is left.
int vault_wipe_folder(const char *_Nonnull path);

/// Names the calling thread, for tools that show threads. The name has at most 15 bytes.
void vault_name_thread(const char *_Nonnull name);

/// Returns the path by which the process's program was started, as the kernel got it: unlike the first argument, it is
/// not the caller's choice. Null if the kernel does not tell.
const char *_Nullable vault_program_path(void);

/// Marks this as a test's process, which the standard stores then refuse to serve.
void vault_set_under_test(void);

int vault_is_under_test(void);
