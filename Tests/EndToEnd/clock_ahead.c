// Loaded before a program's libraries: its clock is CLOCK_AHEAD seconds ahead, or behind.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
    int (*next)(clockid_t, struct timespec *) = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = next(clock, time);
    const char *ahead = getenv("CLOCK_AHEAD");
    if (result == 0 && clock == CLOCK_REALTIME && ahead != NULL) time->tv_sec += atol(ahead);
    return result;
}
