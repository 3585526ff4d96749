#include "CVaultCommand.h"
#include <stdlib.h>

static const char variable[] = "SWIFT_BACKTRACE";
static const char *former;

// The Swift runtime reads SWIFT_BACKTRACE in a constructor, before any Swift code runs. This variable is the documented
// way to configure the crash reporter. Nothing else prevents all of the following:
// - At a terminal, or if the variable requests it, a crash report shows parts of this process's memory, which may
//   contain a secret. `enable=no` prevents this.
// - With `enable=no`, the runtime still searches for the reporter. Without /proc, as in an empty chroot, it does not
//   find its own executable, and aborts. `swift-backtrace=/` prevents the search.
// - Settings that the runtime does not know cause a warning on standard error. `warnings=suppressed` prevents this.
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

// glibc passes the arguments to constructors. Swift's `CommandLine` finds them by reading /proc/self/maps, so it is
// empty without /proc.
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
