#include "CVaultCommand.h"
#include <stdlib.h>

static const char variable[] = "SWIFT_BACKTRACE";
static const char *former;

// Swift's runtime, as it starts, looks for its crash reporter through /proc/self/exe, and aborts where there is no
// /proc: in an empty chroot, say. It prints on standard error what it does not like about the variable, and on a
// terminal, or where the variable says so, it would answer a crash by a report from this process's memory, where a
// secret might be. So it is told, before its own constructors run, that there is no crash reporter and that none is
// wanted.
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
