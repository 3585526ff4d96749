// Calls that Swift's Glibc module lacks: those that are declared only for _GNU_SOURCE, and those with a variable number
// of arguments. This includes no other system header, so that only the module Glibc owns their types.
#pragma once
#include <stdint.h>

#include "keyring.h"
#include "signals.h"
#include "sockets.h"
#include "terminals.h"

/// Renames like rename(2), but fails with EEXIST instead of replacing a file. On file systems that cannot do that in
/// one step, the caller's lock on the folder must exclude other processes.
int vault_rename_exclusively(const char *_Nonnull from, const char *_Nonnull to);

/// Returns the offset of the next bytes of a file that are not in a hole, by lseek(2) with SEEK_DATA; -1, with errno,
/// if that fails: ENXIO if there are none.
int64_t vault_next_data(int descriptor, int64_t offset);

/// Returns the offset up to which this process may write to files, by getrlimit(2) with RLIMIT_FSIZE.
uint64_t vault_file_size_limit(void);

/// Locks or releases one byte of a file, by fcntl(2), without waiting; -1, with errno, if that fails: EAGAIN if another
/// process has locked it.
///
/// - Parameters:
///   - kind: F_WRLCK, F_RDLCK or F_UNLCK.
/// - isOfProcess: whether the lock belongs to this process (F_SETLK), for a descriptor that other processes share;
///   otherwise it belongs to the open file description (F_OFD_SETLK).
int vault_lock_byte(int descriptor, int64_t offset, int kind, int isOfProcess);

/// Returns whether a byte is locked elsewhere, by either kind of lock.
int vault_is_byte_locked(int descriptor, int64_t offset, int isOfProcess);

/// The result of statx(2) for a file. The times are in nanoseconds, and 0 unless they were requested.
struct vault_status {
    uint64_t device, inode, size;
    int64_t contents_changed, changed;
    uint32_t mode, owner, group, links;
};

/// Inspects an open file or, if the descriptor is -1, the file at a path. Returns -1, with errno, if that fails.
int vault_get_status(int descriptor, const char *_Nonnull path, int withTimes, struct vault_status *_Nonnull status);

/// Returns the type of the file system that a file is on, as in statfs(2), and whether it is mounted read-only; -1 if
/// that fails.
int64_t vault_file_system_type(int descriptor, int *_Nonnull isReadOnly);

/// Calls syncfs(2), which Glibc's module hides.
int vault_synchronize_file_system(int descriptor);

/// Returns whether core dumps and debuggers of the same user may read this process. An unknown state counts as yes.
int vault_is_dumpable(void);

/// Prevents core dumps and debuggers of the same user from reading this process. Returns -1 if the system does not
/// allow that.
int vault_forbid_reading(void);

/// Sets whether core dumps and debuggers of the same user may read this process, and returns the former state.
int vault_set_dumpable(int dumpable);

/// Disables core dumps of this process, by setrlimit(2). This lowers only the soft limit: an ordinary user could never
/// raise the hard one again.
void vault_forbid_core_dumps(void);

/// Restores the limit on core dumps from before this process lowered it, for a child process or, with 0, for this one.
void vault_permit_core_dumps(int32_t process);

/// Gives a program that posix_spawn(3) starts a session of its own, and no open file except the standard streams.
/// Returns 0 or the error's number.
///
/// - Parameters:
///   - actions: a posix_spawn_file_actions_t.
/// - flags: the flags of its attributes, to which one is added.
int vault_spawn_apart(void *_Nonnull actions, int16_t *_Nonnull flags);

/// Creates a file in memory, without a path, by memfd_create(2); other programs do not inherit it. Returns -1, with
/// errno, if that fails.
int vault_memory_file(void);

/// Makes a file in memory unchangeable, by fcntl(2) with F_ADD_SEALS; -1, with errno, if that fails.
int vault_seal_memory_file(int descriptor);

/// Returns a descriptor that becomes readable once a number other than zero, of eight bytes, is written to it, by
/// eventfd(2); -1, with errno, if that fails.
int vault_event_descriptor(void);

/// Opens a pipe: its reading end, then its writing end. Other programs inherit neither. Returns -1, with errno, if that
/// fails.
int vault_pipe(int *_Nonnull ends);

/// Overwrites an open file with zeros, in place; -1, with errno, if that fails.
int vault_wipe_file(int descriptor);

/// Overwrites and removes all files below a folder, then removes the folder. Follows no symbolic link. Returns -1 if
/// something is left.
int vault_wipe_folder(const char *_Nonnull path);

/// Names the calling thread, for tools that show threads. The name has at most 15 bytes.
void vault_name_thread(const char *_Nonnull name);

/// Returns the path by which the process's program was started, as the kernel received it. Unlike the first argument,
/// the caller does not choose it. Null if the kernel does not provide it.
const char *_Nullable vault_program_path(void);

/// Marks this process as a test's. The standard stores then refuse to open.
void vault_set_under_test(void);

int vault_is_under_test(void);

/// Returns the ordered mutexes that this thread holds: one bit for each rank. Only builds for tests keep that.
uint32_t vault_held_mutexes(void);
void vault_set_held_mutexes(uint32_t held);
