// What tests need of the system and Swift hides.
#pragma once
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

/// fork(2), which Swift marks as unavailable, since most of what a child may do after it is undefined.
static inline pid_t test_fork(void) {
    return fork();
}

/// Lowers the limit on locked memory to at most this many bytes.
static inline int test_limit_locked_memory(unsigned long bytes) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return -1;
    if (limit.rlim_max > bytes) limit.rlim_max = bytes;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_MEMLOCK, &limit);
}

/// Lets no descriptor with this number or a higher one be opened; returns the limit that there was.
static inline unsigned long test_set_descriptor_limit(unsigned long number) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    unsigned long former = limit.rlim_cur;
    limit.rlim_cur = number;
    setrlimit(RLIMIT_NOFILE, &limit);
    return former;
}

/// memmem(3), which is declared for _GNU_SOURCE only; null if there is no match.
static inline const void *test_find(const void *bytes, size_t count, const void *wanted, size_t wantedCount) {
    extern void *memmem(const void *, size_t, const void *, size_t);
    return memmem(bytes, count, wanted, wantedCount);
}
