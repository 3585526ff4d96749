#include "CLinux.h"
#include <sys/auxv.h>

static int argument_count;
static char **arguments;

// Set by a constructor, before there is a second thread.
static int is_under_test;

// glibc passes the arguments to constructors. Swift reads them from /proc/self/maps, which takes 25 µs at each start
// and does not exist in a bare chroot.
__attribute__((constructor)) static void take_arguments(int count, char **values) {
    argument_count = count;
    arguments = values;
}

const char *vault_argument(int index) {
    return index >= 0 && index < argument_count ? arguments[index] : 0;
}

const char *vault_program_path(void) {
    return (const char *)getauxval(AT_EXECFN);
}

void vault_set_under_test(void) {
    is_under_test = 1;
}

int vault_is_under_test(void) {
    return is_under_test;
}
