#define _GNU_SOURCE
#include "CLinux.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

int vault_rename_exclusively(const char *from, const char *to) {
    if (syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
    // NFS and FUSE do not support RENAME_NOREPLACE.
    if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) return -1;
    if (link(from, to) == 0) return unlink(from);
    // Some file systems do not support hard links either. There, only the caller's lock on the folder prevents a race.
    if (errno != EPERM && errno != ENOSYS && errno != EOPNOTSUPP) return -1;
    if (faccessat(AT_FDCWD, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        errno = EEXIST;
        return -1;
    }
    return errno == ENOENT ? rename(from, to) : -1;
}

int64_t vault_next_data(int descriptor, int64_t offset) {
    return lseek(descriptor, offset, SEEK_DATA);
}

uint64_t vault_file_size_limit(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 ? limit.rlim_cur : UINT64_MAX;
}

int vault_lock_byte(int descriptor, int64_t offset, int kind, int isOfProcess) {
    struct flock byte = {.l_type = (short)kind, .l_whence = SEEK_SET, .l_start = offset, .l_len = 1};
    return fcntl(descriptor, isOfProcess ? F_SETLK : F_OFD_SETLK, &byte);
}

int vault_is_byte_locked(int descriptor, int64_t offset, int isOfProcess) {
    struct flock byte = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = offset, .l_len = 1};
    return fcntl(descriptor, isOfProcess ? F_GETLK : F_OFD_GETLK, &byte) == 0 && byte.l_type != F_UNLCK;
}

static int64_t nanoseconds(struct statx_timestamp time) {
    // A file system may report times after 2262, which wrap around here. That is harmless, as times are only compared.
    return (int64_t)((uint64_t)time.tv_sec * 1000000000u + time.tv_nsec);
}

int vault_get_status(int descriptor, const char *path, int withTimes, struct vault_status *status) {
    unsigned mask = STATX_TYPE | STATX_MODE | STATX_NLINK | STATX_UID | STATX_GID | STATX_INO | STATX_SIZE;
    struct statx found;
    if (withTimes) mask |= STATX_MTIME | STATX_CTIME;
    // On kernels without statx(2), glibc falls back to fstatat(2).
    if (statx(descriptor < 0 ? AT_FDCWD : descriptor, path, descriptor < 0 ? 0 : AT_EMPTY_PATH, mask, &found) != 0)
        return -1;
    *status = (struct vault_status){
        .device = makedev(found.stx_dev_major, found.stx_dev_minor),
        .inode = found.stx_ino,
        .size = found.stx_size,
        .contents_changed = withTimes ? nanoseconds(found.stx_mtime) : 0,
        .changed = withTimes ? nanoseconds(found.stx_ctime) : 0,
        .mode = found.stx_mode,
        .owner = found.stx_uid,
        .group = found.stx_gid,
        .links = found.stx_nlink,
    };
    return 0;
}

int vault_synchronize_file_system(int descriptor) { return syncfs(descriptor); }

int64_t vault_file_system_type(int descriptor, int *isReadOnly) {
    struct statfs status;
    *isReadOnly = 0;
    if (fstatfs(descriptor, &status) != 0) return -1;
    *isReadOnly = (status.f_flags & ST_RDONLY) != 0;
    return (int64_t)status.f_type;
}

int vault_is_dumpable(void) { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0; }

int vault_forbid_reading(void) {
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    return vault_is_dumpable() ? -1 : 0;
}

int vault_set_dumpable(int dumpable) {
    int former = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
    prctl(PR_SET_DUMPABLE, dumpable, 0, 0, 0);
    return former;
}

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif

int vault_memory_file(void) {
    int descriptor = memfd_create("vault", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
    // Linux before 6.3 rejects MFD_NOEXEC_SEAL.
    return descriptor < 0 && errno == EINVAL ? memfd_create("vault", MFD_CLOEXEC | MFD_ALLOW_SEALING) : descriptor;
}

int vault_seal_memory_file(int descriptor) {
    return fcntl(descriptor, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
}

static _Thread_local uint32_t held_mutexes;

uint32_t vault_held_mutexes(void) {
    return held_mutexes;
}

void vault_set_held_mutexes(uint32_t held) {
    held_mutexes = held;
}

void vault_name_thread(const char *name) {
    prctl(PR_SET_NAME, name, 0, 0, 0);
}

int vault_pipe(int *ends) {
    return pipe2(ends, O_CLOEXEC);
}

int vault_event_descriptor(void) {
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}
