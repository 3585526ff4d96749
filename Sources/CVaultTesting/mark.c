#include "CVaultTesting.h"
#include "CLinux.h"

// A program that has the test support in it is a test: from its start, before any code of Swift's runs.
__attribute__((constructor)) static void mark(void) {
    vault_set_under_test();
}
