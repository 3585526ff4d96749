#include "CVaultCommand.h"
#include <stdlib.h>

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
