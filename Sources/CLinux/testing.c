#include "CLinux.h"

// Set by a constructor, before there is a second thread.
static int is_under_test;

void vault_set_under_test(void) {
    is_under_test = 1;
}

int vault_is_under_test(void) {
    return is_under_test;
}
