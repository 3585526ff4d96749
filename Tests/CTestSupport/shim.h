// System calls that tests need and Swift hides.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

/// Calls fork(2), which Swift marks as unavailable, since most of what a child may do after it is undefined.
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

/// Prevents descriptors with this number or a higher one from being opened. Returns the former limit.
static inline unsigned long test_set_descriptor_limit(unsigned long number) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    unsigned long former = limit.rlim_cur;
    limit.rlim_cur = number;
    setrlimit(RLIMIT_NOFILE, &limit);
    return former;
}

/// Returns whether some bytes contain, anywhere, at least one of the parts of this size, at least 2, into which
/// `wanted` is divided.
static inline bool test_holds_part(const void *bytes, size_t count, const void *wanted, size_t wantedCount, size_t size) {
    // Most offsets are ruled out by their first two bytes, so one pass is enough for all parts. No part is copied,
    // since the stack is searched too.
    const char *parts = (const char *)wanted, *content = (const char *)bytes;
    bool beginnings[1 << 16] = {false};
    uint16_t beginning;
    for (size_t part = 0; part + size <= wantedCount; part += size) {
        memcpy(&beginning, parts + part, sizeof beginning);
        beginnings[beginning] = true;
    }
    for (size_t offset = 0; offset + size <= count; offset++) {
        memcpy(&beginning, content + offset, sizeof beginning);
        if (!beginnings[beginning]) continue;
        for (size_t part = 0; part + size <= wantedCount; part += size) {
            if (memcmp(parts + part, content + offset, size) == 0) return true;
        }
    }
    return false;
}
