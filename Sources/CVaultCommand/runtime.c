#define _GNU_SOURCE
#include "CVaultCommand.h"
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

static const char variable[] = "SWIFT_BACKTRACE";
static const char *former;

// When Swift's runtime starts, it looks for its crash reporter through /proc/self/exe, and aborts if there is no /proc,
// as in an empty chroot. It prints complaints about the variable on standard error. On a terminal, or if the variable
// asks for it, it would answer a crash by a report from this process's memory, which may contain a secret. So this
// tells it, before its own constructors run, that there is no crash reporter and that none is wanted.
__attribute__((constructor(101))) static void silence_crash_reporter(void) {
    former = getenv(variable);
    setenv(variable, "enable=no,warnings=suppressed,swift-backtrace=/", 1);
}

void vault_restore_environment(void) {
    if (former) {
        setenv(variable, former, 1);
    } else {
        unsetenv(variable);
    }
}

static int argument_count;
static char **arguments;

// glibc passes the arguments to constructors.
__attribute__((constructor)) static void take_arguments(int count, char **values) {
    argument_count = count;
    arguments = values;
}

const char *vault_argument(int index) {
    return index >= 0 && index < argument_count ? arguments[index] : 0;
}

char *const *vault_arguments(int first) {
    return arguments + first;
}

// Swift's runtime asks this for the arguments. Its own version comes with a constructor that reads all of /proc/self/maps
// to find them, at each start. This one is weak: a later runtime that needs more of its own file gets it undisturbed.
__attribute__((weak, swiftcall)) char **_swift_stdlib_getUnsafeArgvArgc(int *count) {
    *count = argument_count;
    return arguments;
}

// libdispatch asks for the number of processors as it starts, twice, and the C library reads it from /sys each time.
// Its threads are for those that this process may run on, which a single system call tells.
long sysconf(int name) {
    extern long __sysconf(int);
    cpu_set_t usable;
    if (name == _SC_NPROCESSORS_CONF && sched_getaffinity(0, sizeof usable, &usable) == 0) return CPU_COUNT(&usable);
    return __sysconf(name);
}
