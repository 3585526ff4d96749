#include "CLinux.h"

static int argument_count;
static char **arguments;

// glibc hands the arguments to constructors. Swift's own way to them reads /proc/self/maps, which takes 25 µs of each
// start, and does not exist in a bare chroot.
__attribute__((constructor)) static void take_arguments(int count, char **values) {
    argument_count = count;
    arguments = values;
}

int vault_argument_count(void) {
    return argument_count;
}

const char *vault_argument(int index) {
    return index >= 0 && index < argument_count ? arguments[index] : 0;
}
