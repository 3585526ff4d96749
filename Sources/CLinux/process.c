#include "CLinux.h"
#include <sys/auxv.h>

// Set by a constructor, before there is a second thread.
static int is_under_test;

const char *vault_program_path(void) {
    return (const char *)getauxval(AT_EXECFN);
}

void vault_set_under_test(void) {
    is_under_test = 1;
}

int vault_is_under_test(void) {
    return is_under_test;
}
