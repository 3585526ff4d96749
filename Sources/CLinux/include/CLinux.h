// Functions that Swift's Glibc module lacks because they are variadic or declared only for _GNU_SOURCE. This header
// includes no other system header, so that the types of those headers belong to the module Glibc alone.
#pragma once
#include <stdint.h>

#include "keyring.h"
#include "signals.h"
#include "sockets.h"
#include "terminals.h"

/// Renames like rename(2), but fails with EEXIST instead of replacing a file. On file systems that cannot do so
/// atomically, the caller's lock on the folder must exclude other processes.
int vault_rename_exclusively(const char *_Nonnull from, const char *_Nonnull to);

/// Returns the offset of a file's next data at or after `offset`, skipping holes, by lseek(2) with SEEK_DATA. Returns
/// -1, with errno, if that fails; ENXIO means that no data follows.
int64_t vault_next_data(int descriptor, int64_t offset);

/// Returns the maximum size in bytes to which this process may extend files, by getrlimit(2) with RLIMIT_FSIZE.
uint64_t vault_file_size_limit(void);

/// Locks or unlocks one byte of a file, by fcntl(2), without waiting. Returns -1, with errno, if that fails; EAGAIN
/// means that the byte is locked elsewhere.
///
/// - Parameters:
///   - kind: F_WRLCK, F_RDLCK or F_UNLCK.
///   - isOfProcess: whether the lock belongs to this process (F_SETLK), as needed if other processes share the
///     descriptor. Otherwise the lock belongs to the open file description (F_OFD_SETLK).
int vault_lock_byte(int descriptor, int64_t offset, int kind, int isOfProcess);

/// Returns whether another process or, unless `isOfProcess`, another open file description has locked a byte.
int vault_is_byte_locked(int descriptor, int64_t offset, int isOfProcess);

/// The result of statx(2) for a file. The times are in nanoseconds, and 0 unless they were requested.
struct vault_status {
    uint64_t device, inode, size;
    int64_t contents_changed, changed;
    uint32_t mode, owner, group, links;
};

/// Inspects an open file or, if the descriptor is -1, the file at a path. Returns -1, with errno, if that fails.
int vault_get_status(int descriptor, const char *_Nonnull path, int withTimes, struct vault_status *_Nonnull status);

/// Returns the type of an open file's file system, as in statfs(2); -1 if that fails. Sets `isReadOnly` to whether the
/// file system is mounted read-only.
int64_t vault_file_system_type(int descriptor, int *_Nonnull isReadOnly);

/// Calls syncfs(2), which Glibc's module hides.
int vault_synchronize_file_system(int descriptor);

/// Returns whether this process's memory can get into core dumps and be read by the same user's debuggers. Returns true
/// if that is unknown.
int vault_is_dumpable(void);

/// Keeps this process's memory out of core dumps and away from the same user's debuggers. Returns -1 if that fails.
int vault_forbid_reading(void);

/// Sets whether this process can be dumped and debugged, as in ``vault_is_dumpable``, and returns the former state.
int vault_set_dumpable(int dumpable);

/// Disables core dumps of this process, by setrlimit(2). Lowers only the soft limit, because an ordinary user could
/// never raise the hard limit again.
void vault_forbid_core_dumps(void);

/// Restores the limit lowered by ``vault_forbid_core_dumps``, for a child or, if `process` is 0, for this process.
void vault_permit_core_dumps(int32_t process);

/// Makes posix_spawn(3) start a program in a new session, and with no open files except the standard streams. Returns 0
/// or an error number.
///
/// - Parameters:
///   - actions: a posix_spawn_file_actions_t.
///   - flags: the flags of the spawn attributes, to which this function adds one.
int vault_spawn_apart(void *_Nonnull actions, int16_t *_Nonnull flags);

/// Creates a file in memory, without a path, by memfd_create(2); other programs do not inherit it. Returns -1, with
/// errno, if that fails.
int vault_memory_file(void);

/// Makes a file in memory immutable, by fcntl(2) with F_ADD_SEALS. Returns -1, with errno, if that fails.
int vault_seal_memory_file(int descriptor);

/// Returns a descriptor from eventfd(2), which becomes readable once a nonzero number of eight bytes is written to it.
/// Returns -1, with errno, if that fails.
int vault_event_descriptor(void);

/// Opens a pipe, and stores its reading end and its writing end in `ends`. Other programs do not inherit them. Returns
/// -1, with errno, if that fails.
int vault_pipe(int *_Nonnull ends);

/// Overwrites an open file with zeros, in place. Returns -1, with errno, if that fails.
int vault_wipe_file(int descriptor);

/// Overwrites and removes all files below a folder, then removes the folder. Does not follow symbolic links. Returns -1
/// if the folder still exists.
int vault_wipe_folder(const char *_Nonnull path);

/// Sets the calling thread's name, which tools such as ps show. The name may have at most 15 bytes.
void vault_name_thread(const char *_Nonnull name);

/// Returns the path of this process's program as it was passed to the kernel; null if the kernel does not provide it.
/// The first argument, in contrast, can be any text.
const char *_Nullable vault_program_path(void);

/// Records that this process runs tests, so that the standard stores refuse to open.
void vault_set_under_test(void);

int vault_is_under_test(void);

/// Returns which ordered mutexes this thread holds, with one bit per rank. Only test builds record this.
uint32_t vault_held_mutexes(void);
void vault_set_held_mutexes(uint32_t held);
