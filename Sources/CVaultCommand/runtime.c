#include "CVaultCommand.h"
#include <stdlib.h>

static const char variable[] = "SWIFT_BACKTRACE";
static const char *former;

// The runtime reads this variable in a constructor, before any Swift code runs. It is the documented way to set up its
// crash reporter, and nothing else turns off all of these:
// - At a terminal, or if the variable asks for it, a crash is reported from this process's memory, which may contain a
//   secret: `enable=no`.
// - Even then the runtime searches for the reporter. Without /proc, as in an empty chroot, it does not find its own
//   executable, and aborts: `swift-backtrace=/` ends the search.
// - Settings that it does not understand cause a warning on standard error: `warnings=suppressed`.
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

// glibc passes the arguments to constructors. Swift's `CommandLine` reads them from /proc/self/maps, and has none where
// there is no /proc.
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
